/** A reporter for Vitest: tells the process that has started it what objects to the code under test. */
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';

export interface Objection {
  /** The test's file and name, or the file alone where a hook of it has failed. */
  readonly test: string;
  /** The first line of the error. */
  readonly message: string;
  /** The test was given up: that may have any cause, and takes long to see. */
  readonly isTimeout: boolean;
}

/** Ends the run with the first objection that counts. */
export default class ObjectionReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestCaseResult(test: TestCase): void {
    this.#tell(`${test.module.relativeModuleId} > ${test.fullName}`, test.result().errors ?? []);
  }

  onTestSuiteResult(suite: TestSuite): void {
    this.#tell(`${suite.module.relativeModuleId} > ${suite.fullName}`, suite.errors());
  }

  onTestModuleEnd(module: TestModule): void {
    this.#tell(module.relativeModuleId, module.errors());
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly { readonly message: string }[]): void {
    this.#tell('outside of any test', unhandled);
  }

  #tell(test: string, errors: readonly { readonly message: string }[]): void {
    for (const error of errors) {
      const [message = ''] = error.message.split('\n');
      const objection: Objection = { test, message, isTimeout: /^(Test|Hook) timed out in \d+ms/.test(message) };
      process.send!(objection);
      if (!objection.isTimeout) void this.#vitest!.cancelCurrentRun('test-failure');
    }
  }
}
