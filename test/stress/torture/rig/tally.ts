/** Counts what the clients of a run encounter. */
export class Tally {
  pulls = 0;
  pushes = 0;
  /** Pushes that were sent twice. */
  doubled = 0;
  /** Responses with status 503. */
  unavailable = 0;
  /** Requests whose connection broke. */
  broken = 0;
  /** Pushes that were accepted. */
  accepted = 0;
  /** Pushes that were refused because the server did not have the mutations before them. */
  gaps = 0;
  objections = 0;
  /** The first few objections. */
  readonly messages: string[] = [];

  object(what: string): void {
    this.objections++;
    if (this.messages.length < 20) this.messages.push(what);
  }
}
