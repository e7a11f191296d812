import { useState } from 'react';
import { PlainText } from '../markdown/long-text.tsx';
import { saveFile } from '../parts/device-files.tsx';
import { Icon } from '../parts/icon.tsx';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { getFileName, toReferencePath } from '../service/service-path.ts';
import { usePage } from '../shell/page.tsx';
import { useStrings } from '../strings/strings.tsx';
import { describeFileError, readContent } from './read-content.ts';

/** The origin of an attachment: a web address, a stored file, or a name. */
export function SourceLink({ url }: { readonly url: string | undefined }) {
  const strings = useStrings();
  if (url === undefined) return null;
  if (url.startsWith('files/') && toReferencePath(url) !== undefined) return <StoredSource url={url} />;
  if (!/^https?:/i.test(url) || !URL.canParse(url))
    return (
      <span className="soft small attachment-source">
        <PlainText text={url} />
      </span>
    );
  const { host } = new URL(url);
  return (
    <a
      className="attachment-source small"
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      title={strings.opensInNewTab}
      aria-label={strings.openSource(host)}
    >
      {host}
      <Icon name="link" />
    </a>
  );
}

/** Downloads the file and never opens it here, because it may be an HTML page. */
function StoredSource({ url }: { readonly url: string }) {
  const strings = useStrings();
  const { service } = usePage();
  const [error, setError] = useState<ErrorDetails>();
  const name = getFileName(url);
  if (error !== undefined) {
    return (
      <span className="error-text small" role="alert">
        {describeFileError(error, strings)}
      </span>
    );
  }
  const save = (): void => {
    readContent(service, { url }).then(
      (content) => saveFile(name, content),
      (error: unknown) => setError(toErrorDetails(error)),
    );
  };
  return (
    <button type="button" className="quiet-link small" aria-label={`${strings.fullFile}: ${name}`} title={name} onClick={save}>
      {strings.fullFile}
    </button>
  );
}
