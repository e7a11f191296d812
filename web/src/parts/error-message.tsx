import type { ErrorDetails } from '../service/service-error.ts';
import { describeError } from '../strings/describe-error.ts';
import { useLanguage, useStrings } from '../strings/strings.tsx';
import { suggestAction } from '../strings/suggest-action.ts';
import { CopyButton } from './copy-button.tsx';
import { TextButton } from './icon.tsx';

interface ErrorMessageProps {
  readonly error: ErrorDetails | undefined;
  /** Tries the failed action again. */
  readonly retry?: () => void;
}

/** An error and a suggested action. Renders nothing without an error. */
export function ErrorMessage({ error, retry }: ErrorMessageProps) {
  const { strings, locale } = useLanguage();
  if (error === undefined) return null;
  const description = describeError(error, strings);
  const hasResponse = error.code !== 'connection_lost';
  return (
    <div className="error-text" role="alert">
      <p>
        {description} {hasResponse && suggestAction(error, { strings, locale })}
      </p>
      {retry !== undefined && <TextButton onClick={retry}>{strings.retry}</TextButton>}
      {hasResponse && description !== error.message && <ErrorSupport error={error} />}
    </div>
  );
}

/** Error details for support. */
export function ErrorSupport({ error: { code, message, requestId } }: { readonly error: ErrorDetails }) {
  const strings = useStrings();
  return (
    <details className="small soft">
      <summary>{strings.errorDetails}</summary>
      {message !== '' && <p>{message}</p>}
      <p>{code}</p>
      {requestId !== undefined && (
        <p className="error-id">
          {strings.errorId} <code>{requestId}</code>
          <CopyButton text={() => requestId} label={strings.copyErrorId} />
        </p>
      )}
    </details>
  );
}
