/** What the clients of a run have met. */
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
  /** Pushes that were refused because the server did not have what came before them. */
  gaps = 0;
  objections = 0;
  /** The first few. */
  readonly said: string[] = [];

  object(what: string): void {
    this.objections++;
    if (this.said.length < 20) this.said.push(what);
  }
}
