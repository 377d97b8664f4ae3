/** Everything that views must not contain, in all its disguises. */
import { type Signature, signature } from './signature.js';

const poison = (illegal: string, ...lines: readonly string[]): Signature[] =>
  lines.map((line) => signature(line, { illegal }));

export const poisons: readonly Signature[] = [
  ...poison(
    'the clock',
    'timestamptz: now()',
    'text: now()::text',
    'text: current_timestamp::text',
    'date: current_date',
    'text: localtime(0)::text',
    'integer: extract(hour from clock_timestamp())::integer',
    'boolean: now() > timestamptz $$2024-01-01$$',
    'timestamptz: transaction_timestamp()',
    'text: timeofday()',
    'interval: age(timestamp $$2024-01-01$$)',
    'boolean: pg_catalog.now() is not null',
  ),
  ...poison(
    'a moving moment as text',
    `timestamptz: 'now'::timestamptz`,
    `timestamptz: timestamptz 'today'`,
    `boolean: cast(«timestamptz» as timestamptz) > 'now'`,
    `boolean: cast(«timestamptz» as timestamptz) between 'yesterday' and 'tomorrow'`,
    `boolean: cast(«date» as date) = 'today'`,
    `boolean: cast(«date» as date) in ('today', '2024-01-01')`,
    `timestamptz: coalesce(cast(«timestamptz» as timestamptz), 'now')`,
    `tstzrange: '[now,)'::tstzrange`,
    `boolean: '[2020-01-01 00:00,now)'::tstzrange @> «timestamptz»`,
    `boolean: cast(«timestamptz» as timestamptz) = any ('{now}')`,
    `boolean: «timestamptz» = any ('{now,today}'::timestamptz[])`,
    `date: case when «boolean» then 'TODAY ' else cast(«date» as date) end`,
    `timestamp: date_trunc('day', 'now'::timestamp)`,
    `text: ('now'::timestamptz)::text`,
    `text: timestamptz(timestamp 'now')::text`,
    `text: to_jsonb(date 'tomorrow')::text`,
    `text: (jsonb_populate_record(null::pg_catalog.pg_cursors, '{"creation_time": "now"}')).creation_time::text`,
    `text: (select max(z.a)::text from json_to_recordset('[{"a":"now"}]') as z(a timestamptz))`,
  ),
  // Harmless where it is not evaluated, as in the select list of an EXISTS.
  ...[`timestamptz: cast('now' as text)::timestamptz`, `date: ('to' || 'day')::date`].map((line) =>
    signature(line, { illegal: 'a moving moment that is computed', chance: 'a moving moment that is computed' }),
  ),
  ...poison(
    'chance',
    'integer: (random() * 100)::integer',
    'uuid: gen_random_uuid()',
    'text: gen_random_uuid()::text',
    'boolean: random() < 0.5',
  ),
  ...poison(
    'who asks, and from where',
    'text: current_user',
    'text: session_user::text',
    `text: current_setting('application_name')`,
    'integer: pg_backend_pid()',
    'text: current_schema',
    `boolean: has_table_privilege('pg_class', 'select')`,
    'text: version()',
  ),
  ...poison(
    'what no table holds',
    'text: txid_current()::text',
    'text: pg_current_snapshot()::text',
    'boolean: pg_is_in_recovery()',
    'bigint: pg_database_size(current_database())',
    `text: pg_get_expr('', 0)`,
    `text: 'pg_class'::regclass::text`,
    `boolean: to_regclass('t') is null`,
    `text: query_to_xml('select 1', true, true, '')::text`,
  ),
  ...poison(
    'a system catalog',
    'from: (select relname::text from pg_class)',
    'from: (select table_name::text from information_schema.tables)',
    'from: (select name::text from pg_settings)',
  ),
  ...poison('ONLY', 'table: only @'),
  ...poison('TABLESAMPLE', 'table: @ tablesample bernoulli (50)'),
  ...poison('a lock', 'lock: for update', 'lock: for no key update', 'lock: for share', 'lock: for key share'),
];
