const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** Returns a day in UTC, so that the server and the browser show the same. */
export const dateOf = (time: string): string => day.format(new Date(time));
