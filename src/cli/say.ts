/** Says something to whoever started the command. Standard output is for results and for the server's log. */
export function say(message: string): void {
  process.stderr.write(`${message}\n`);
}
