/** Statements that make the schema of the version before out of that of this one. */
import { readFileSync } from 'node:fs';

const before = readFileSync(new URL('../../sql/0016-after-a-crash.sql', import.meta.url), 'utf8');

export const withoutTimelines: string = `
  ${before.slice(before.indexOf('create or replace function tidemark.looks('))};
  drop function tidemark.history, tidemark.record_timeline, tidemark.timeline_number;
  drop function tidemark.keep_views, tidemark.hold_layouts, tidemark.fields, tidemark.written_in,
    tidemark.unclear_image;
  drop table tidemark.layout, tidemark.view_text, tidemark.timeline, tidemark.expansion;
  alter table tidemark.tick drop column timeline, drop column position, drop column cookie_form`;
