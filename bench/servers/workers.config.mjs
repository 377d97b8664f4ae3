/** The application that most scenarios measure, for `tidemark serve`. */
import { authenticate, mutators, views } from '../applications/todos.mjs';

export default { views, mutators, authenticate, rates: { perUser: 1e9 } };
