/** Statements that make the schema of the version before out of that of this one. */
import { readFileSync } from 'node:fs';

const sqlOf = (file: string) => readFileSync(new URL(`../../sql/${file}`, import.meta.url), 'utf8');
const before = sqlOf('0016-after-a-crash.sql');
const [outlineBefore] = /create function tidemark\.outline.*?\$\$;/s.exec(sqlOf('0004-outlines-and-witnesses.sql'))!;

export const withoutTimelines: string = `
  ${before.slice(before.indexOf('create or replace function tidemark.looks('))};
  ${outlineBefore.replace('create function', 'create or replace function')}
  drop function tidemark.history, tidemark.record_timeline, tidemark.timeline_number;
  drop function tidemark.keep_views, tidemark.hold_layouts, tidemark.fields, tidemark.written_in,
    tidemark.unclear_image, tidemark.type_outline, tidemark.disconnect;
  drop table tidemark.layout, tidemark.view_text, tidemark.timeline, tidemark.expansion;
  alter table tidemark.tick drop column timeline, drop column position, drop column cookie_form`;
