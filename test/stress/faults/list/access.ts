/** Faults in permissions: which users a caller can write as, and which rows a user sees. */
import type { Fault } from '../fault.js';

export const access: readonly Fault[] = [
  {
    name: 'Of two users that register a client group at the same time, both may push to it.',
    find: '\n    where exists (select from tidemark.client_group where id = of_group and user_id = of_user)',
    replace: '\n    where true',
    test: 'writes/push',
  },
  {
    name: 'Registering a client group takes it from its owner.',
    find: 'values ($1, $2) on conflict (id) do nothing',
    replace: 'values ($1, $2) on conflict (id) do update set user_id = excluded.user_id',
    test: 'writes/push',
  },
  {
    name: 'A mutation of another user’s client is applied.',
    find: '= mutation - 1\n      and exists (select from tidemark.client_group where id = of_group and user_id = of_user)',
    replace: '= mutation - 1',
    test: 'store/client-groups',
  },
  {
    name: 'A mutation of another group’s client is applied.',
    find: 'where id = of_client and client_group_id = of_group and last',
    replace: 'where id = of_client and last',
    test: 'writes/push',
  },
  {
    name: 'Mutations are applied in any order.',
    find: 'and last_mutation_id = mutation - 1',
    replace: 'and last_mutation_id < mutation',
    test: 'writes/push',
  },
  {
    name: 'A first mutation that arrives again is applied again.',
    find: '      and not exists (select from tidemark.client where id = of_client)\n    on conflict (id) do nothing',
    replace: '    on conflict (id) do update set last_mutation_id = 1',
    test: 'store/client-groups',
  },
  {
    name: 'The record of a client keeps the transaction of its first mutation.',
    find: 'set last_mutation_id = mutation, xid = pg_current_xact_id()',
    replace: 'set last_mutation_id = mutation',
    test: 'writes/push-together',
  },
  {
    name: 'A pull answers with the mutations of every client group.',
    find: 'where c.client_group_id = requested.id',
    replace: 'where requested.id is not null',
    test: 'conformance/pull-wire',
  },
  {
    name: 'A refusal reaches every browser profile of its user.',
    find: 'from tidemark.refusal where user_id = $1 and profile_id = $2`;',
    replace: 'from tidemark.refusal where user_id = $1 and $2::text is not null`;',
    test: 'conformance/refused-mutations',
  },
  {
    name: 'A refusal reaches every user.',
    find: 'from tidemark.refusal where user_id = $1 and profile_id = $2`;',
    replace: 'from tidemark.refusal where $1::text is not null and profile_id = $2`;',
    test: 'conformance/refused-mutations',
  },
  {
    name: 'The answer to an idempotency key is given to another user.',
    find: 'where user_id = of_user and key = of_key and created_at',
    replace: 'where key = of_key and created_at',
    test: 'rest/idempotency',
  },
  {
    name: 'A disconnected user’s streams stay open on other servers.',
    find: ' union all select -1) t',
    replace: ') t',
    test: 'endpoints/logout',
  },
  {
    name: 'A session-level advisory lock counts as one of the transaction, and reaches the next user.',
    find: 'return /advisory_lock/.test(name);',
    replace: 'return false;',
    test: 'writes/sessions',
  },
  {
    name: 'Signatures of cookies are not compared.',
    find: 'one.length === other.length && timingSafeEqual(one, other)',
    replace: 'one.length === other.length',
    test: 'protocol/cookie',
  },
  {
    name: 'A new secret signs cookies before every server knows it.',
    find: 'array[m.previous_secret, m.secret]',
    replace: 'array[m.secret, m.previous_secret]',
    test: 'schema/secrets',
  },
  {
    name: 'A rotated secret stays valid.',
    find: 'm.previous_until > now()',
    replace: 'true',
    test: 'schema/secrets',
  },
  {
    name: 'A token may be signed with any algorithm.',
    find: 'algorithms: [...algorithms],',
    replace: '',
    test: 'auth/matrix',
  },
  {
    name: 'A forwarded call follows redirects with the caller’s credentials.',
    find: "redirect: 'manual',",
    replace: "redirect: 'follow',",
    test: 'endpoints/forward',
  },
];
