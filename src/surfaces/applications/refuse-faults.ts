import { type Fault, formatPath } from '#contract/configuration/fault.ts';
import { ParleyError } from '#contract/errors/errors.ts';

const mostToldFaults = 5;
const longestPath = 200;

/** Throws `invalid_request` that names the faults, if there are any. */
export function refuseFaults(faults: readonly Fault[]): void {
  const [first] = faults;
  if (first === undefined) return;
  const told = faults.slice(0, mostToldFaults).map(toSentence);
  const more = faults.length - told.length;
  const message = [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  throw new ParleyError('invalid_request', `${message}.`, { param: toParam(first) || null });
}

/** Keys may be as long as the body. */
function toParam({ path }: Fault): string {
  const param = formatPath(path);
  return param.length <= longestPath ? param : `${param.slice(0, longestPath)}…`;
}

function toSentence(fault: Fault): string {
  const { message, hint } = fault;
  return `${toParam(fault) || 'The body'} ${message}${hint === undefined ? '' : ` (${hint})`}`;
}
