import type { AdminStrings } from '../locales/en/administration.ts';
import { ErrorMessage, ErrorSupport } from '../parts/error-message.tsx';
import type { ErrorDetails } from '../service/service-error.ts';
import { useAdminStrings } from './admin-strings.ts';

/** Returns an explanation for an error code of the administration API, or undefined for other codes. */
function explainError({ code, usedBy = [], status }: ErrorDetails, strings: AdminStrings): string | undefined {
  if (code === 'in_use') return strings.inUse(usedBy.join(', '));
  if (status === 503) return strings.storeUnavailable;
  return Object.hasOwn(strings.errors, code) ? strings.errors[code] : undefined;
}

/** An error of the administration API with a next step. Renders nothing without an error. */
export function AdminError({ error }: { readonly error: ErrorDetails | undefined }) {
  const strings = useAdminStrings();
  const text = error && explainError(error, strings);
  if (error === undefined || text === undefined) return <ErrorMessage error={error} />;
  return (
    <div className="error-text" role="alert">
      <p>{text}</p>
      <ErrorSupport error={error} />
    </div>
  );
}
