/**
 * Settings of databases and roles, as other applications use them. `TIDEMARK_TEST_SETTINGS` names those that each test
 * database gets.
 */

interface OrdinarySettings {
  readonly ofDatabase: readonly string[];
  /** Settings of the role that the tests connect as, in the database. They take precedence. */
  readonly ofRole: readonly string[];
}

const settingsByName: Readonly<Record<string, OrdinarySettings>> = {
  /** Other formats to read and write values in. A Postgres that supports JIT compiles every plan. */
  formats: {
    ofDatabase: [
      'jit = on',
      'jit_above_cost = 10',
      `datestyle = 'German, DMY'`,
      `timezone = 'Asia/Kathmandu'`,
      'extra_float_digits = 0',
      'standard_conforming_strings = off',
      'escape_string_warning = off',
      'xmloption = document',
      `lc_monetary = 'C'`,
      `lc_time = 'C'`,
      `default_text_search_config = 'german'`,
    ],
    ofRole: [
      'intervalstyle = sql_standard',
      'bytea_output = escape',
      'quote_all_identifiers = on',
      'array_nulls = off',
      'transform_null_equals = on',
      `client_encoding = 'LATIN1'`,
      `plpgsql.extra_errors = 'all'`,
    ],
  },
  /** Transactions are serializable and must be short. */
  transactions: {
    ofDatabase: [
      `statement_timeout = '3s'`,
      'default_transaction_isolation = serializable',
      'default_transaction_deferrable = on',
      'session_replication_role = local',
      'plpgsql.variable_conflict = use_column',
    ],
    ofRole: [
      `datestyle = 'SQL, DMY'`,
      `lock_timeout = '3s'`,
      `transaction_timeout = '3s'`,
      `idle_in_transaction_session_timeout = '3s'`,
      'row_security = off',
    ],
  },
  /** Of the triggers, only those that always fire do so. */
  replica: { ofDatabase: [], ofRole: ['session_replication_role = replica'] },
  /** Postgres chooses other plans. */
  plans: {
    ofDatabase: [
      'enable_seqscan = off',
      'enable_hashjoin = off',
      'enable_sort = off',
      'from_collapse_limit = 1',
      'join_collapse_limit = 1',
      'constraint_exclusion = on',
    ],
    ofRole: ['plan_cache_mode = force_generic_plan', `work_mem = '64kB'`, 'search_path = public, pg_catalog'],
  },
};

/** The settings under which foreign keys perform their actions, as generated applications expect. */
export const settingsNames: readonly string[] = Object.keys(settingsByName).filter((name) => name !== 'replica');

/**
 * The statements that give a database the settings of this name that its Postgres supports.
 * @param supported the names of the settings that the Postgres supports
 */
export function ordinarySettings(name: string, database: string, supported: ReadonlySet<string>): readonly string[] {
  const { ofDatabase, ofRole } = settingsByName[name]!;
  const isSupported = (setting: string) => setting.includes('.') || supported.has(setting.split(' ')[0]!);
  return [
    ...ofDatabase.filter(isSupported).map((setting) => `alter database ${database} set ${setting}`),
    ...ofRole.filter(isSupported).map((setting) => `alter role current_user in database ${database} set ${setting}`),
  ];
}
