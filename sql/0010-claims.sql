-- What writers do beside their mutators. As functions, since these keep their plans: planning such a statement takes
-- longer than running it, and in a text with BEGIN or COMMIT it cannot be prepared.

-- Claims a mutation for the calling transaction: from then on, its client's row says that it is applied, and stays locked.
-- Returns false if the client is not waiting for this mutation, or its client group does not belong to the user.
create function tidemark.claim_mutation(of_client text, of_group text, of_user text, mutation bigint) returns boolean
language plpgsql as $$
begin
  if mutation = 1 then
    -- If a concurrent push has inserted the row, this is a serialization failure, never a unique violation. A row that is
    -- there already is not tried: each try would wait for whoever updates it, and then fail.
    insert into tidemark.client (id, client_group_id, last_mutation_id, xid)
    select of_client, of_group, 1, pg_current_xact_id()
    where exists (select from tidemark.client_group where id = of_group and user_id = of_user)
      and not exists (select from tidemark.client where id = of_client)
    on conflict (id) do nothing;
  else
    update tidemark.client
    set last_mutation_id = mutation, xid = pg_current_xact_id()
    where id = of_client and client_group_id = of_group and last_mutation_id = mutation - 1
      and exists (select from tidemark.client_group where id = of_group and user_id = of_user);
  end if;
  return found;
end
$$;

-- Locks an idempotency key until the end of the calling transaction, and then reads the answer that is kept under it,
-- unless it is older than the retention. "locked" is false if another transaction has locked the key: that call is still
-- running. Because the function is volatile, a transaction that is not REPEATABLE READ sees what was committed before it
-- got the lock.
create function tidemark.claim_key(
  of_user text, of_key text, retention_seconds float8, out locked boolean, out fingerprint text, out answer text
)
language plpgsql as $$
begin
  locked := pg_try_advisory_xact_lock(hashtextextended(of_key, hashtextextended(of_user, 7)));
  select kept.fingerprint, kept.answer into claim_key.fingerprint, claim_key.answer
  from tidemark.idempotency_key kept
  where user_id = of_user and key = of_key and created_at > now() - make_interval(secs => retention_seconds);
end
$$;

-- Keeps an answer under a key that the calling transaction has locked, replacing any that is older than the retention.
-- If another transaction has kept an answer that this one cannot see, this is a serialization failure.
create function tidemark.keep_answer(of_user text, of_key text, its_fingerprint text, its_answer text) returns void
language plpgsql as $$
begin
  insert into tidemark.idempotency_key (user_id, key, fingerprint, answer)
  values (of_user, of_key, its_fingerprint, its_answer)
  on conflict (user_id, key) do update
  set fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = excluded.created_at;
end
$$;
