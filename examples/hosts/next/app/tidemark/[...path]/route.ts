import { sync } from '../../../../sync';

const handle = (request: Request) => sync.fetch(request);

export { handle as GET, handle as HEAD, handle as OPTIONS, handle as POST };
