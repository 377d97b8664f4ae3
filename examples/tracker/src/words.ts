/** The words of the demo's data. */

export const people = ['Ann', 'Ben', 'Cam', 'Dana', 'Eli', 'Fay', 'Gus', 'Hana', 'Ivo', 'June', 'Kai', 'Lena'];

/** The first three letters of each are its key. */
export const teams = [
  ...['Accounts', 'Billing', 'Calendar', 'Checkout', 'Contacts', 'Dashboards', 'Delivery', 'Editor', 'Exports'],
  ...['Forms', 'Identity', 'Imports', 'Inbox', 'Invoices', 'Maps', 'Media', 'Messages', 'Notifications', 'Onboarding'],
  ...['Payments', 'Pricing', 'Reports', 'Search', 'Storage', 'Teams'],
];

export const parts = ['Web app', 'Mobile app', 'API', 'Redesign', 'Reliability', 'Analytics', 'Enterprise', 'Ideas'];

export const labels = ['Bug', 'Feature', 'Design', 'Performance', 'Accessibility', 'Security', 'Customer', 'Docs'];

export const titles = [
  '%s flickers when the window regains focus',
  '%s loses its scroll position after going back',
  '%s shows yesterday’s totals until reloaded',
  'Add a keyboard shortcut to open the %s',
  'Add an empty state to the %s',
  'Add undo to bulk edits in the %s',
  'Allow guests to comment in the %s',
  'Announce changes of the %s to screen readers',
  'Cache the first page of the %s',
  'Crash when the %s is opened twice',
  'Cut the load time of the %s in half',
  'Dark mode: contrast in the %s is too low',
  'Drag and drop does not work in the %s on Safari',
  'Export the %s as CSV',
  'Filter the %s by owner',
  'Group the %s by month',
  'Keep drafts in the %s when the session expires',
  'Long names overflow in the %s',
  'Make the %s usable with one hand',
  'Measure how often people leave the %s',
  'Move the %s to the new design tokens',
  'Paste from spreadsheets into the %s',
  'Pin items to the top of the %s',
  'Rate limit the endpoint behind the %s',
  'Remember the sort order of the %s',
  'Remove the old feature flag of the %s',
  'Rename “archive” to “close” in the %s',
  'Retry failed uploads in the %s',
  'Right-to-left text breaks the %s',
  'Show who last changed the %s',
  'Split the %s into two steps',
  'Support time zones in the %s',
  'Time out after 30 s in the %s instead of hanging',
  'Translate the %s into Portuguese',
  'Unsaved changes in the %s are lost offline',
  'Write a guide to the %s',
];

export const things = [
  ...['activity feed', 'address form', 'audit log', 'billing page', 'command menu', 'comment box', 'customer list'],
  ...['date picker', 'detail panel', 'email digest', 'file browser', 'filter bar', 'import wizard', 'invite dialog'],
  ...['member table', 'mobile menu', 'overview', 'plan picker', 'profile page', 'report builder', 'role editor'],
  ...['search results', 'settings page', 'sign-in screen', 'status page', 'team switcher', 'timeline', 'usage chart'],
];

export const descriptions = [
  'Reported by three customers this month. It happens in all current browsers, and is easiest to see on a slow network.',
  'We agreed on this in the last planning. Start with the smallest change that people can notice, and measure it for two weeks.',
  'The current behaviour surprises new users. The design is done; what remains is the edge cases with many items.',
  'Small, but it comes up in every demo. Please add a test, so that it stays fixed.',
  'Blocked until the new tokens are merged. After that, it should take no more than a day.',
  'Two parts: the server already returns what we need, so begin with the page. The mobile app follows.',
];

export const remarks = [
  'I can reproduce this. It only happens when the list is longer than the screen.',
  'Looks good to me. Can we ship it behind a flag first?',
  'The customer confirmed that the workaround is fine until the end of the month.',
  'I have a branch with half of it, and will open a pull request tomorrow.',
  'Should this also work offline? I think people would expect it to.',
  'Measured it: 420 ms before, 90 ms after.',
  'Same here on Firefox. Let’s not forget the narrow screens.',
  'Closing the old ticket in favour of this one.',
];
