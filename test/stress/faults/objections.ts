/** A Vitest reporter that sends its parent process the tests that object to the code under test. */
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';

export interface Objection {
  /** The test's file and name, or only the file if one of its hooks failed. */
  readonly test: string;
  /** The first line of the error. */
  readonly message: string;
  /** The test timed out, which can have any cause and takes long to detect. */
  readonly isTimeout: boolean;
}

/** Ends the run at the first objection that counts. */
export default class ObjectionReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestCaseResult(test: TestCase): void {
    this.#report(`${test.module.relativeModuleId} > ${test.fullName}`, test.result().errors ?? []);
  }

  onTestSuiteResult(suite: TestSuite): void {
    this.#report(`${suite.module.relativeModuleId} > ${suite.fullName}`, suite.errors());
  }

  onTestModuleEnd(module: TestModule): void {
    this.#report(module.relativeModuleId, module.errors());
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly { readonly message: string }[]): void {
    this.#report('outside of any test', unhandled);
  }

  #report(test: string, errors: readonly { readonly message: string }[]): void {
    for (const error of errors) {
      const [message = ''] = error.message.split('\n');
      const objection: Objection = { test, message, isTimeout: /^(Test|Hook) timed out in \d+ms/.test(message) };
      process.send!(objection);
      if (!objection.isTimeout) void this.#vitest!.cancelCurrentRun('test-failure');
    }
  }
}
