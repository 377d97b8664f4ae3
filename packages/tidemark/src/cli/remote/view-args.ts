/** The arguments of a view, from the command line of `tidemark pull`. */
import { reservedParameters } from '../../openapi/view-conventions.js';
import { UsageError } from '../terminal.js';

/** An argument as text. Its value may contain the equals sign. */
const form = /^([^=]+)=(.*)$/s;

/**
 * Returns the arguments as parameters of a query string. The server converts each text to the argument's type.
 * @param args each as `name=value`
 * @throws UsageError. Its message contains no value, because values may be secrets.
 */
export function viewArgsIn(args: readonly string[]): [name: string, value: string][] {
  return args.map((arg) => {
    const [, name, value] = form.exec(arg) ?? [];
    if (name === undefined) throw new UsageError('The value of --arg must look like projectID=7');
    if (reservedParameters.has(name)) {
      throw new UsageError(`${name} is a parameter of all views, so it cannot be an argument`);
    }
    return [name, value!];
  });
}
