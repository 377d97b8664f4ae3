/** Events in simulated time, which advances from one event to the next. A heap ordered by time. */
export class Agenda {
  readonly #events: { readonly at: number; readonly work: () => void }[] = [];
  now = 0;

  after(ms: number, work: () => void): void {
    this.at(this.now + ms, work);
  }

  at(time: number, work: () => void): void {
    const events = this.#events;
    let place = events.push({ at: time, work }) - 1;
    for (let above = (place - 1) >> 1; place > 0 && events[above]!.at > time; above = (place - 1) >> 1) {
      this.#swap(place, above);
      place = above;
    }
  }

  /** Runs all events up to this time. */
  runUntil(end: number): void {
    while (this.#events.length > 0 && this.#events[0]!.at <= end) {
      const { at, work } = this.#takeFirst();
      this.now = at;
      work();
    }
    this.now = end;
  }

  #takeFirst(): { readonly at: number; readonly work: () => void } {
    const events = this.#events;
    const first = events[0]!;
    const last = events.pop()!;
    if (events.length === 0) return first;
    events[0] = last;
    for (let place = 0; ; ) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      let least = place;
      if (left < events.length && events[left]!.at < events[least]!.at) least = left;
      if (right < events.length && events[right]!.at < events[least]!.at) least = right;
      if (least === place) return first;
      this.#swap(place, least);
      place = least;
    }
  }

  #swap(one: number, other: number): void {
    const events = this.#events;
    [events[one], events[other]] = [events[other]!, events[one]!];
  }
}
