import { type FormEvent, useCallback, useEffect, useId, useRef, useState } from 'react';
import { toChatTitle } from '#contract/page/turn-texts.ts';
import { listVisibleTurns } from '../conversation/conversation.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { TextButton } from '../parts/icon.tsx';
import { useConfirmation } from '../parts/question-dialog.tsx';
import { useAction, useLoaded } from '../parts/use-loaded.ts';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { usePage, useSummaries } from '../shell/page.tsx';
import { formatRoute } from '../shell/route.ts';
import { useLanguage, useStrings } from '../strings/strings.tsx';
import { type ChatShare, ChatShares, type ShareableFile, toDisplayName } from './chat-shares.ts';
import { useShareStrings } from './share-strings.ts';
import './share.css';

interface ShareDialogProps {
  /** ID of the chat. Undefined to show only existing links. */
  readonly conversationId: string | undefined;
  readonly close: () => void;
}

/** Creates a link to a chat and lists existing links. */
export function ShareDialog({ conversationId, close }: ShareDialogProps) {
  const strings = useShareStrings();
  const { close: closeLabel } = useStrings();
  const { service } = usePage();
  const { dialog, closeDialog } = useModalDialog(close);
  const titleId = useId();
  const [shares] = useState(() => new ChatShares(service));
  const [load] = useState(() => () => shares.list());
  const { value: links, error, reload } = useLoaded(load);
  const [createdLink, setCreatedLink] = useState({ id: '', link: '' });
  const update = (id: string, link: string): void => {
    if (link !== '' || id === createdLink.id) setCreatedLink({ id, link });
    reload();
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog share-dialog', 'aria-labelledby': titleId, closedby: 'any' }}>
      <h2 id={titleId}>{conversationId === undefined ? strings.yourLinks : strings.title}</h2>
      {conversationId !== undefined && <NewLink {...{ shares, conversationId, onCreated: update }} link={createdLink.link} />}
      <ErrorMessage error={error} retry={reload} />
      {links !== undefined && (
        <ShareList
          {...{ shares, links, closeDialog }}
          isOnlyContent={conversationId === undefined}
          onRemoved={(id) => update(id, '')}
        />
      )}
      <div className="row end">
        <TextButton onClick={closeDialog}>{closeLabel}</TextButton>
      </div>
    </dialog>
  );
}

const dayChoices = [1, 7, 30, 90, 365];
const defaultDays = 30;
/** Maximum number of names that a share can contain. */
const maxNames = 100;

interface NewLinkProps {
  readonly shares: ChatShares;
  readonly conversationId: string;
  /** The created link, or ''. */
  readonly link: string;
  readonly onCreated: (id: string, link: string) => void;
}

/** The shared content, the lifetime, and the created link. */
function NewLink({ shares, conversationId, link, onCreated }: NewLinkProps) {
  const strings = useShareStrings();
  const { untitled } = useStrings();
  const { library, user, deployments } = usePage();
  const chatTitle = useSummaries().find(({ id }) => id === conversationId)?.title;
  const [days, setDays] = useState(defaultDays);
  const { error, isRunning: isCreating, run } = useAction();
  const fieldId = useId();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a model can suggest the title meanwhile
  const load = useCallback(async () => {
    await library.sync(conversationId);
    await library.refetch(conversationId);
    return { chat: await library.readFull(conversationId), preview: await shares.preview(conversationId) };
  }, [library, shares, conversationId, chatTitle]);
  const { value: { chat, preview } = {}, error: filesError, isLoading, reload } = useLoaded(load);
  const lastQuestion = chat && listVisibleTurns(chat).findLast((turn) => turn.kind === 'question');
  const hasChanged = error?.status === 412;
  useEffect(() => {
    if (hasChanged) reload();
  }, [hasChanged, reload]);
  const create = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (preview === undefined) return;
    const usedIds = new Set(Object.values(chat?.turns ?? {}).map((turn) => 'deployment' in turn && turn.deployment));
    const names = deployments.filter(({ id }) => usedIds.has(id)).map(({ id, name }) => [id, name]);
    const deploymentNames = Object.fromEntries(names.slice(0, maxNames));
    await run(async () => {
      const { id, token } = await shares.create(conversationId, preview.etag, { expiresInDays: days, deploymentNames });
      onCreated(id, `${location.origin}${location.pathname}${formatRoute({ at: 'shared', token })}`);
    });
  };
  return (
    <>
      <p>{strings.intro(lastQuestion === undefined ? '' : toChatTitle(lastQuestion))}</p>
      {preview !== undefined && <p>{strings.linkTitle(preview.title || untitled)}</p>}
      <p className="soft small">{strings.linkContent(toDisplayName(user))}</p>
      {preview !== undefined && preview.files.length > 0 && <SharedFiles files={preview.files} />}
      {link === '' ? (
        <form className="share-form" onSubmit={(event) => void create(event)}>
          <label htmlFor={fieldId}>{strings.worksFor}</label>
          <select id={fieldId} value={days} onChange={({ target }) => setDays(Number(target.value))}>
            {dayChoices.map((count) => (
              <option key={count} value={count}>
                {strings.days(count)}
              </option>
            ))}
          </select>
          <button type="submit" className="button primary" disabled={isCreating || isLoading || preview === undefined}>
            {strings.createLink}
          </button>
        </form>
      ) : (
        <CreatedLink link={link} />
      )}
      <p role="status">{hasChanged && strings.chatChanged}</p>
      <ErrorMessage error={hasChanged ? undefined : error} />
      <ErrorMessage error={filesError} retry={reload} />
    </>
  );
}

function SharedFiles({ files }: { readonly files: readonly ShareableFile[] }) {
  const strings = useShareStrings();
  return (
    <div className="share-files">
      <h3>{strings.files(files.length)}</h3>
      <ul>
        {files.map(({ path, title, from }) => (
          <li key={path}>
            <span>{title}</span>
            <span className="soft small">{from === 'question' ? strings.attachedByYou : strings.fromAnswer}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function CreatedLink({ link }: { readonly link: string }) {
  const strings = useShareStrings();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  return (
    <>
      <div className="share-link">
        <input {...{ ref: input, readOnly: true, value: link, 'aria-label': strings.link }} />
        <CopyButton text={() => link} label={strings.copyLink} />
      </div>
      <p className="soft small">{strings.copyNow}</p>
    </>
  );
}

interface ShareListProps {
  readonly shares: ChatShares;
  readonly links: readonly ChatShare[];
  /** Whether the dialog shows only this list. */
  readonly isOnlyContent: boolean;
  readonly onRemoved: (id: string) => void;
  readonly closeDialog: () => void;
}

/** The user's links, each with a button to revoke it after a confirmation. */
function ShareList({ shares, links, isOnlyContent, onRemoved, closeDialog }: ShareListProps) {
  const strings = useShareStrings();
  const { locale, strings: common } = useLanguage();
  const titles = new Map(useSummaries().map(({ id, title }) => [id, title]));
  const { askConfirmation, dialog } = useConfirmation();
  const [removedTitle, setRemovedTitle] = useState('');
  const [error, setError] = useState<ErrorDetails>();
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  const titledLinks = links.map((link) => ({ ...link, title: titles.get(link.chat) || link.title || common.untitled }));
  const revoke = async (id: string, title: string): Promise<void> => {
    if (!(await askConfirmation(strings.revokeQuestion(title), strings.revoke))) return;
    setError(undefined);
    try {
      await shares.revoke(id);
      setRemovedTitle(title);
    } catch (error) {
      const details = toErrorDetails(error);
      if (details.code !== 'share_not_found') setError(details);
    }
    onRemoved(id);
  };
  if (links.length === 0 && removedTitle === '') return isOnlyContent ? <p className="soft">{strings.noLinks}</p> : null;
  return (
    <section>
      {!isOnlyContent && <h3>{strings.yourLinks}</h3>}
      <p role="status">{removedTitle !== '' && strings.revoked(removedTitle)}</p>
      <ul className="share-list">
        {titledLinks.map(({ id, chat, title, createdAtMs, expiresAtMs }) => (
          <li key={id}>
            <a href={formatRoute({ at: 'conversation', id: chat })} onClick={closeDialog}>
              {title}
            </a>
            <span className="soft small">{strings.linkState(dateTime.format(createdAtMs), date.format(expiresAtMs))}</span>
            <button
              {...{ type: 'button', className: 'button slim', 'aria-label': strings.revokeNamed(title) }}
              onClick={() => void revoke(id, title)}
            >
              {strings.revoke}
            </button>
          </li>
        ))}
      </ul>
      <ErrorMessage error={error} />
      {dialog}
    </section>
  );
}
