import type { Fault } from '../fault.js';

const client = 'src/writes/client/mutator-client.ts';
const effects = 'src/writes/client/effects.ts';
const nested = 'src/writes/client/nested-transactions.ts';
const forms = 'src/writes/client/query-forms.ts';
const transactions = 'src/writes/client/mutator-transactions.ts';
const together = 'src/writes/apply-together.ts';
const ofClient = ['test/writes/mutator-client.test.ts'];
const ofEffects = ['test/writes/effects.test.ts'];
const builders = ['test/writes/nested-transactions.test.ts'];
const sessions = ['test/writes/sessions.test.ts'];

export const nesting: readonly Fault[] = [
  {
    name: 'a mutator commits its transaction',
    file: client,
    find: 'if (step === undefined) return this.#refuse(args, new TransactionControlError(noneBegun));',
    replace: 'if (step === undefined) return this.#send(args);',
    tests: builders.concat(ofClient),
  },
  {
    name: 'a transaction in a transaction is none',
    file: client,
    find: 'return this.#send(withText(args, step.text), step);',
    replace: "return this.#send(withText(args, 'select 1'), step);",
    tests: builders,
  },
  {
    name: 'a refusal that is swallowed is forgotten',
    file: client,
    find: 'this.#refusal ??= error;',
    replace: '',
    tests: ofClient,
  },
  {
    name: 'what a mutator was not to send is committed all the same',
    file: transactions,
    find: '      client.check();\n',
    replace: '',
    tests: builders,
  },
  {
    name: 'a transaction that is left open counts as done',
    file: client,
    find: 'if (this.#nested.areOpen && this.isSound)',
    replace: 'if (this.#nested.areOpen && !this.isSound)',
    tests: builders,
  },
  {
    name: 'a transaction that could not be committed cannot be rolled back',
    file: nested,
    find: 'this.#open = [...this.#open, name];\n      },\n    };\n  }\n\n  /** Ends the innermost one. Undefined if there is none. */',
    replace: '},\n    };\n  }\n\n  /** Ends the innermost one. Undefined if there is none. */',
    tests: ofClient,
  },
  {
    name: 'a transaction that could not be begun counts as open',
    file: nested,
    find: 'this.#open = this.#open.filter((open) => open !== name);',
    replace: '',
    tests: ofClient,
  },
  {
    name: 'a statement keeps the name of the one that it stands for',
    file: forms,
    find: '{ ...statement, text, name: undefined }',
    replace: '{ ...statement, text }',
    tests: ofClient,
  },
  {
    name: 'callbacks are not watched',
    file: forms,
    find: '      ended(error ?? null);\n',
    replace: '',
    tests: ofClient,
  },
  {
    name: 'a commit among other statements is sent',
    file: effects,
    find: "if (effects.some(({ kind }) => kind === 'begin' || kind === 'commit' || kind === 'rollback')) {",
    replace: "if (effects.some(({ kind }) => kind === 'begin')) {",
    tests: ofEffects,
  },
  {
    name: 'a mutator is told that its transaction is serializable',
    file: effects,
    find: "if (sval?.sval === 'serializable')",
    replace: "if (sval?.sval === 'never')",
    tests: ofEffects,
  },
  {
    name: 'a chained transaction begins behind a commit',
    file: effects,
    find: "if (chain) return { kind: 'forbidden', reason: otherEnd };",
    replace: '',
    tests: ofEffects,
  },
  {
    name: 'a mutator gives the connection back',
    file: client,
    find: '{ query, release, end, connect }',
    replace: '{ query, end, connect }',
    tests: ofClient.concat(sessions),
  },
  {
    name: 'a mutator closes the connection',
    file: client,
    find: '{ query, release, end, connect }',
    replace: '{ query, release, connect }',
    tests: ofClient.concat(sessions),
  },
  {
    name: 'a setting of one user is there for the next',
    file: transactions,
    find: 'if (client.mayLast) discard();',
    replace: 'if (client.mayLast && client.isPlain) discard();',
    tests: sessions,
  },
  {
    name: 'a setting of a mutation that failed is there for the next user',
    file: transactions,
    find: '    } finally {\n      client.close();\n      if (client.mayLast) discard();\n    }',
    replace: '    } finally {\n      client.close();\n    }',
    tests: sessions,
  },
  {
    name: 'a mutator that sets a local role costs a connection',
    file: effects,
    find: "if (type === 'VariableSetStmt') return !fields.is_local;",
    replace: "if (type === 'VariableSetStmt') return true;",
    tests: sessions,
  },
  {
    name: 'a setting for the session passes for one of the transaction',
    file: effects,
    find: 'return boolval?.boolval === true;',
    replace: 'return boolval !== undefined;',
    tests: sessions,
  },
  {
    name: 'a session’s lock passes for one of the transaction',
    file: effects,
    find: 'return /advisory_lock/.test(name);',
    replace: 'return false;',
    tests: sessions,
  },
  {
    name: 'a temporary table passes for the rows of a SELECT',
    file: effects,
    find: "if ('intoClause' in fields) return true;",
    replace: '',
    tests: sessions,
  },
  {
    name: 'an answer is kept as the role of the mutator',
    file: transactions,
    find: 'if (last.length > 0 && !client.isPlain) last.unshift(...asConnected);',
    replace: '',
    tests: sessions,
  },
  {
    name: 'a transaction waits for a validator',
    file: together,
    find: '(calls.length > 0 ? limit.within(prepared) : prepared)',
    replace: 'prepared',
    tests: ['test/writes/push-together.test.ts'],
  },
  {
    name: 'a mutation is validated for each transaction anew',
    file: 'src/writes/push.ts',
    find: '    prepared.set(mutation, call);\n',
    replace: '',
    tests: ['test/writes/push-together.test.ts'],
  },
];
