import { useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { saveFile } from '../parts/save-file.ts';
import { fileNameOf } from '../service/file-name.ts';
import { toReferencePath } from '../service/service-path.ts';
import { useWords } from '../words/words.tsx';
import { readContent } from './read-content.ts';

/** Where an attachment comes from: an address of the web, a stored file, or what is only named. */
export function SourceLink({ url }: { readonly url: string | undefined }) {
  const words = useWords();
  if (url === undefined) return null;
  if (url.startsWith('files/') && toReferencePath(url) !== undefined) return <StoredSource url={url} />;
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return <span className="soft small attachment-source">{url}</span>;
  const { host } = new URL(url);
  return (
    <a
      className="attachment-source small"
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      title={words.opensElsewhere}
      aria-label={words.openSource(host)}
    >
      {host}
      <Icon name="link" />
    </a>
  );
}

/** The file is saved and never opened here: it may be a page of HTML. */
function StoredSource({ url }: { readonly url: string }) {
  const words = useWords();
  const { service } = usePage();
  const [isGone, setIsGone] = useState(false);
  const name = fileNameOf(url);
  if (isGone) {
    return (
      <span className="trouble small" role="alert">
        {words.fileUnavailable}
      </span>
    );
  }
  const save = (): void => {
    readContent(service, { url }).then(
      (content) => saveFile(name, content),
      () => setIsGone(true),
    );
  };
  return (
    <button type="button" className="quiet-link small" aria-label={`${words.wholeFile}: ${name}`} title={name} onClick={save}>
      {words.wholeFile}
    </button>
  );
}
