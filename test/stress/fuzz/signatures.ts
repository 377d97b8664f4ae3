/** The parts of Postgres that depend only on their arguments, or on settings that all sessions share. */
import { type Signature, signatures } from './signature.js';

const comparisons = signatures(`
  boolean: «=» = «=»
  boolean: «=» = «=»
  boolean: «=» <> «=»
  boolean: «<» < «<»
  boolean: «<» >= «<»
  boolean: «=» is distinct from «=»
  boolean: «=» is not distinct from «=»
  boolean: «<» between «<» and «<»
  boolean: «<» not between symmetric «<» and «<»
  boolean: «<» between symmetric «<» and «<»
  boolean: «=» in («=», «=», «=»)
  boolean: «=» not in («=», «=»)
  boolean: «any» is null
  boolean: «any» is not null
  boolean: «any» isnull
  boolean: («=», «integer») = («=», «integer»)
  boolean: row(«<», «text») < row(«<», «text»)
  boolean: («=», «boolean») is distinct from («=», «boolean»)
  boolean: («any», «integer») is not null
  boolean: («=», «text») in ((«=», «text»), («=», 'a'))
  boolean: «=» = any (array[«=», «=»])
  boolean: «=» <> all (array[«=», «=»])
  boolean: «<» < any (values («<»), («<»))
  boolean: «boolean» and «boolean»
  boolean: «boolean» or «boolean»
  boolean: not «boolean»
  boolean: «boolean» is true
  boolean: «boolean» is not false
  boolean: «boolean» is unknown
  boolean: «boolean» is not unknown
`);

const generic = signatures(`
  any: coalesce(«any», «any»)
  =: nullif(«=», «=»)
  <: greatest(«<», «<»)
  <: least(«<», «<», «<»)
  any: case when «boolean» then «any» else «any» end
  any: case «integer» when «integer» then «any» when «integer» then «any» end
  any: (array[«any», «any»])[«integer»]
  any: (array[«any», «any», «any»])[1]
  text: («cased»)::text
  text: cast(«cased» as text)
  text: to_json(«any»)::text
  text: quote_nullable(«cased»)
  text: quote_literal(«cased»)
  integer: num_nulls(«any», «any»)
  integer: num_nonnulls(«any», «integer»)
  boolean: «=» in (select «=»)
`);

const numbers = signatures(`
  integer: «integer» + «integer»
  integer: «integer» - «integer»
  integer: -«integer»
  integer: «integer» * 2
  integer: «integer» / 2
  integer: «integer» % 3
  integer: «integer»&«integer»
  integer: «integer» | «integer»
  integer: «integer» # «integer»
  integer: ~«integer»
  integer: «integer» << 1
  integer: abs(«integer»)
  integer: sign(«integer»)::integer
  integer: length(«text»)
  integer: char_length(«text»)
  integer: octet_length(«text»)
  integer: ascii(«text»)
  integer: strpos(«text», «text»)
  integer: position(«text» in «text»)
  integer: width_bucket(«integer»::numeric, 0, 10, 5)
  integer: cardinality(«integer[]»)
  integer: array_length(«text[]», 1)
  integer: array_position(«integer[]», «integer»)
  integer: «integer[]»[1]
  integer: («integer[]»)[«integer»]
  integer: («integer[]»)[1:2][1]
  integer: extract(year from «date»)::integer
  integer: extract(epoch from «interval»)::integer
  integer: date_part('day', «timestamp»)::integer
  integer: lower(«int4range»)
  integer: upper(«int4range»)
  integer: «smallint»::integer
  integer: («pair»).a
  integer: («pair»).a
  integer: «int domain»::integer
  integer: json_array_length(json_build_array(«json», «json»))
  integer: «boolean»::integer
  integer: ascii(«"char"»::text)
  integer: bit_count(«bytea»)::integer
  integer: regexp_count(«text», 'a')
  integer: numnode(plainto_tsquery('simple', «text»))
  smallint: «smallint» + 1::smallint
  bigint: «integer»::bigint
  bigint: hashtextextended(«text», 0)
  bigint: «bigint» % 7
  bigint: length(«text»)::bigint
  bigint: («bigint»)::bigint
  oid: «integer»::oid
  numeric: «numeric» + «numeric»
  numeric: «numeric» - «integer»
  numeric: «numeric» * «numeric»
  numeric: -«numeric»
  numeric: «integer»::numeric
  numeric: «integer» / 4.0
  numeric: round(«numeric», 1)
  numeric: trunc(«numeric»)
  numeric: «numeric»::numeric(30, 2)
  numeric: abs(«numeric»)
  numeric: trim_scale(«numeric»)
  numeric: «numeric domain»::numeric
  numeric: «bigint» * 1.0
  numeric: sign(«numeric»)
  double precision: «double precision» * 2
  double precision: -«double precision»
  double precision: «double precision» + «double precision»
  double precision: «integer»::float8
  double precision: «real»::float8
  double precision: extract(epoch from «timestamp»)::float8
  double precision: abs(«double precision»)
  double precision: («point»)[0]
  double precision: «point» <-> «point»
  real: «real» + «real»
  real: «integer»::real
  boolean: «double precision» = «double precision»
  boolean: isfinite(«date»)
  boolean: «integer»::boolean
`);

const texts = signatures(`
  text: «text» || «text»
  text: «text» || «integer»
  text: «cased» || «text»
  text: lower(«text»)
  text: upper(«text»)
  text: initcap(«text»)
  text: left(«text», «integer»)
  text: right(«text», 2)
  text: substr(«text», «integer»)
  text: substring(«text» from 2)
  text: substring(«text» from 1 for 2)
  text: overlay(«text» placing 'x' from 1 for 1)
  text: trim(«text»)
  text: trim(both 'a' from «text»)
  text: btrim(«text», 'ab')
  text: replace(«text», 'a', «text»)
  text: translate(«text», 'ab', 'ba')
  text: reverse(«text»)
  text: repeat(«text», 2)
  text: lpad(«text», 4, '0')
  text: split_part(«text», '/', 1)
  text: md5(«text»)
  text: concat(«cased», «integer», «text»)
  text: concat_ws('-', «text», «cased»)
  text: format('%s/%I', «cased», coalesce(«text», ''))
  text: regexp_replace(«text», '^(.)', '\\1\\1')
  text: (regexp_match(«text», '(.)'))[1]
  text: «text» collate "C"
  text: «text» collate "POSIX"
  text: quote_ident(«text»)
  text: encode(«bytea», 'hex')
  text: to_char(«numeric», '999.99')
  text: to_char(«date», 'YYYY-MM-DD')
  text: to_char(«timestamp», 'HH24:MI')
  text: «varchar»::text
  text: «char»::text
  text: «citext»::text
  text: «name»::text
  text: «enum»::text
  text: («pair»)."B c"
  text: «text[]»[1]
  text: («text[]»)[«integer»]
  text: array_to_string(«text[]», ',', '-')
  text: array_to_string(«integer[]», ',')
  text: «jsonb» ->> 'a'
  text: «jsonb» #>> '{b,0}'
  text: «jsonb»::text
  text: «json» ->> 'a'
  text: jsonb_typeof(«jsonb»)
  text: json_typeof(«json»)
  text: jsonb_pretty(«jsonb»)
  text: host(«inet»)
  text: «caseless» collate "C"
  text: normalize(«text», NFC)
  text: U&'\\0061' || «text»
  text: $q$a'b$q$ || «text»
  text: E'\\n' || «text»
  15| text: unistr(«text» || 'a')
  16| text: json_value(«jsonb», '$.a')
  17| text: json_value(«jsonb», '$.a' returning text default 'x' on empty)
  17| text: json_query(«jsonb», '$.b' with wrapper)::text
  17| boolean: json_exists(«jsonb», '$.a')
  17| text: json_serialize(«jsonb»)
  17| text: json_scalar(«integer»)::text
  16| text: json_object('k': «any», 'l' value «text» absent on null)::text
  16| text: json_array(«any», «integer» null on null)::text
  16| text: json_array(select «integer» union all select 2 order by 1)::text
  16| boolean: «text» is json
  16| boolean: «text» is json object
  16| boolean: «jsonb» is json array with unique keys
  varchar: «varchar»::varchar(8)
  varchar: «text»::varchar(8)
  char: «text»::char(3)
  citext: «text»::citext
  name: «text»::name
  caseless: «caseless» || 'x'
  boolean: «text» like 'a%'
  boolean: «text» like «text»
  boolean: «text» not like '%!%%' escape '!'
  boolean: «text» ilike 'A%'
  boolean: «text» similar to '(a|b)%'
  boolean: «text» ~ '^[a-z]'
  boolean: «text» !~* 'b'
  boolean: «text» ^@ 'a'
  boolean: starts_with(«text», 'o')
  boolean: «text» like any (array['a%', 'b%'])
  boolean: «text» in ('open', 'done')
  boolean: «varchar» = 'open'
  boolean: «varchar» in ('open', 'a', 'A')
  boolean: «citext» = «citext»
  boolean: «citext» in ('open', 'a')
  boolean: «text» = «varchar»
  boolean: «char» = «char»
  boolean: «enum» > 'sad'
  boolean: «enum» in ('sad', 'ok')
`);

const others = signatures(`
  date: «date» + «integer»
  date: «timestamp»::date
  date: make_date(2024, 1, 1 + abs(«integer» % 20))
  date: date '2024-01-01'
  timestamp: «timestamp» + interval '1 day'
  timestamp: «timestamp» - «interval»
  timestamp: date_trunc('month', «timestamp»)
  timestamp: «timestamptz» at time zone 'UTC'
  timestamp: «timestamptz» at time zone interval '01:00'
  timestamp: timestamp '2024-01-01 00:00'
  timestamptz: «timestamp» at time zone 'Europe/Berlin'
  timestamptz: «timestamptz» + interval '1 day'
  timestamptz: timezone('UTC', «timestamp»)
  timestamptz: date_trunc('day', «timestamptz», 'UTC')
  timestamptz: to_timestamp(«integer»)
  17| timestamp: «timestamptz» at local
  time: «timestamp»::time
  interval: «interval» * 2
  interval: «timestamp» - timestamp '2024-01-01'
  interval: make_interval(days => «integer»)
  interval: age(«timestamp», timestamp '2000-01-01')
  interval: interval '1' day
  boolean: («date», «date») overlaps («date», «date»)
  boolean: «date» < «timestamp»
  boolean: «timestamptz» > «date»
  jsonb: to_jsonb(«any»)
  jsonb: jsonb_build_object('k', «any», «text» || 'k', «integer»)
  jsonb: jsonb_build_array(«any», «text»)
  jsonb: «jsonb» -> 'b'
  jsonb: «jsonb» -> «integer»
  jsonb: «jsonb» #> array['b', '0']
  jsonb: «jsonb»['a']
  jsonb: «jsonb»['b'][«integer»]
  jsonb: jsonb_set('{"a":1}', array['a'], coalesce(«jsonb», '1'))
  jsonb: jsonb_path_query_first(«jsonb», '$.b[*] ? (@ > 1)')
  jsonb: jsonb_strip_nulls(«jsonb»)
  jsonb: «jsonb» || «jsonb»
  jsonb: «jsonb» #- array['a']
  jsonb: «json»::jsonb
  json: to_json(«any»)
  json: «json» -> 'a'
  json: json_build_object('k', «any»)
  json: array_to_json(«integer[]»)
  boolean: «jsonb» @> '{"a": 1}'
  boolean: «jsonb» ? 'a'
  boolean: «jsonb» ?| array['a', 'b']
  boolean: «jsonb» @? '$.b'
  boolean: «jsonb» @@ '$.a > 0'
  boolean: jsonb_path_exists(«jsonb», '$.a')
  text[]: array[«text», «text»]
  text[]: «text[]» || «text»
  text[]: array_remove(«text[]», «text»)
  text[]: string_to_array(«text», '/')
  text[]: «text[]»[1:2]
  text[]: array['a', 'b']
  text[]: array_append(array[cardinality(«text[]»)::text, array_ndims(«text[]»)::text], «text»)
  integer[]: array[«integer», «integer»]
  integer[]: array[«integer», 2]::integer[]
  integer[]: array(select «integer»)
  integer[]: '{1,2}'::int[]
  integer[]: («integer[]»)[:2]
  integer[]: «integer[]»[«integer»:3]
  integer[]: array_replace(«integer[]», 1, «integer»)
  numeric[]: array[«numeric», 1.00]
  boolean: «integer» = any («integer[]»)
  boolean: «integer» > all («integer[]»)
  boolean: «text» = any («text[]»)
  boolean: «text[]» && «text[]»
  boolean: «integer[]» @> array[«integer»]
  boolean: «integer» = any ('{1,2,3}')
  bytea: «bytea» || '\\x01'
  bytea: sha256(«bytea»)
  bytea: convert_to(«text», 'UTF8')
  bytea: decode('0a', 'hex')
  boolean: «bytea» = '\\x00'
  bit: «bit» & «bit»
  bit: ~«bit»
  bit: «bit»&b'1010'
  bit: «integer»::bit(4)
  varbit: «varbit» || b'1'
  int4range: int4range(0, abs(«integer»))
  int4range: «int4range» * int4range(1, 5)
  tstzrange: tstzrange(«timestamptz», null)
  int4multirange: int4multirange(«int4range»)
  boolean: «int4range» @> «integer»
  boolean: «integer» <@ «int4range»
  boolean: «int4range» && «int4range»
  boolean: «tstzrange» @> «timestamptz»
  boolean: isempty(«int4range»)
  boolean: «int4multirange» @> «integer»
  boolean: «inet» << '10.0.0.0/8'
  inet: set_masklen(«inet», 8)
  boolean: «point» ~= «point»
  boolean: «tsvector» @@ to_tsquery('simple', 'a')
  tsvector: to_tsvector('simple', «text»)
  point: point(«double precision», 1)
  pair: row(«integer», «text»)::«pair:name»
  pair: «pair»
  uuid: md5(«text»)::uuid
  uuid: «uuid»
  "char": «"char"»
  enum: enum_first(«enum»)
  enum: «enum»
  int domain: abs(«integer» % 100)::«int domain:name»
`);

/** Parameters whose type the context must determine, and that adjoin other tokens. */
const parameters = signatures(`
  integer: «integer»&«$integer»
  integer: «integer»-«$integer»
  integer: -«$integer»
  integer: («$integer[]»::integer[])[1]
  integer: coalesce(«$integer»,0)
  text: («$text[]»::text[])[«integer»]
  text: «$text»||«text»
  text: «text»||«$text»
  text: «$text»
  boolean: «$boolean»
  boolean: «integer»=«$integer»
  boolean: «integer»<«$integer»
  boolean: «integer» >= «$integer» and «$integer» >= «$integer»
  boolean: «integer» < «$integer» + «$integer»
  boolean: «$integer» <= «integer» and «#1» >= «$integer»
  boolean: «integer» <> «$integer» and «text» || «#2» <> '9'
  boolean: «integer» between «$integer» and «$integer»+1
  boolean: «integer» in («$integer»,«$integer»)
  boolean: «integer»=any(«$integer[]»)
  boolean: «numeric» > «$numeric»
  boolean: «bigint»=«$bigint»
  boolean: «text»=«$text»
  boolean: «text» like «$text»||'%'
  boolean: «text»=any(«$text[]»)
  boolean: «text»>«$text» or «$text»<'m'
  boolean: «$integer» < «$integer»
  boolean: «$boolean» or «boolean»
  boolean: «=»=«$=»
  timestamp: «timestamp»-«$interval»
  jsonb: «jsonb»->«$text»
`);

export const builtIn: readonly Signature[] = [
  ...comparisons,
  ...generic,
  ...numbers,
  ...texts,
  ...others,
  ...parameters,
];
