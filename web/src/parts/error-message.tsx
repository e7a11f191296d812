import type { ErrorDetails } from '../service/service-error.ts';
import { describeError } from '../strings/describe-error.ts';
import { useLanguage, useStrings } from '../strings/strings.tsx';
import { suggestAction } from '../strings/suggest-action.ts';

/** What went wrong in words, and what helps; nothing where nothing did. */
export function ErrorMessage({ error }: { readonly error: ErrorDetails | undefined }) {
  const { strings, language } = useLanguage();
  if (error === undefined) return null;
  const description = describeError(error, strings);
  const hasResponse = error.code !== 'connection_lost';
  return (
    <div className="trouble" role="alert">
      <p>
        {description} {hasResponse && suggestAction(error, { strings, language })}
      </p>
      {hasResponse && description !== error.message && <ErrorSupport error={error} />}
    </div>
  );
}

/** What the people who run the service want to know of a fault. */
export function ErrorSupport({ error: { code, message, requestId } }: { readonly error: ErrorDetails }) {
  const strings = useStrings();
  return (
    <details className="small soft">
      <summary>{strings.errorDetails}</summary>
      {message !== '' && <p>{message}</p>}
      <p>{[code, requestId !== undefined && strings.reference(requestId)].filter(Boolean).join(' · ')}</p>
    </details>
  );
}
