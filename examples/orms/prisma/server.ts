import { serve } from '../serve.js';
import { createTables } from './create-tables.js';
import { mutators } from './mutators.js';
import { tx } from './tx.js';
import { views } from './views.js';

await serve({ createTables, views, mutators, tx });
