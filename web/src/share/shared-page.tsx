import { useCallback, useEffect, useRef } from 'react';
import { pickDefaultDeployment } from '../chat/deployments/favorites.ts';
import { ReadOnlyThread } from '../chat/turns/read-only-thread.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { NamedPage } from '../parts/named-page.tsx';
import { useAction, useLoaded } from '../parts/use-loaded.ts';
import { toErrorDetails } from '../service/service-error.ts';
import { useGetName, usePage } from '../shell/page.tsx';
import { formatRoute } from '../shell/route.ts';
import { useLanguage } from '../strings/strings.tsx';
import { ChatShares, type SharedChat, toDisplayName } from './chat-shares.ts';
import { useShareStrings } from './share-strings.ts';
import './share.css';
import '../chat/turns/thread.css';
import type { Attachment } from '#contract/chat/message.ts';
import type { DisplayedAttachment } from '../attachments/attachment-kind.ts';
import type { Conversation, Turn } from '../conversation/conversation.ts';
import { attachFile } from '../service/attach-file.ts';
import type { Service } from '../service/service.ts';

/** A shared chat, read-only, with a button to continue in a copy. */
export function SharedPage({ token, openMenu }: { readonly token: string; readonly openMenu: () => void }) {
  const { shared: name } = useShareStrings();
  const { service } = usePage();
  const load = useCallback(() => new ChatShares(service).open(token), [service, token]);
  const { value, error } = useLoaded(load);
  const isMissing = error?.code === 'share_not_found' || error?.code === 'route_not_found';
  return (
    <NamedPage name={name} title={value?.title || name} isBusy={value === undefined && error === undefined} openMenu={openMenu}>
      {isMissing && <MissingShare />}
      {error !== undefined && !isMissing && (
        <div className="sheet">
          <ErrorMessage error={error} />
        </div>
      )}
      {value !== undefined && (
        <>
          <SharedThread shared={value} />
          <div className="thread-footer">
            <CopyBar shared={value} />
          </div>
        </>
      )}
    </NamedPage>
  );
}

function MissingShare() {
  const strings = useShareStrings();
  return (
    <div className="sheet">
      <h1>{strings.notFound}</h1>
      <p>{strings.notFoundReason}</p>
      <p>
        <a href={formatRoute({ at: 'new' })}>{strings.newConversation}</a>
      </p>
    </div>
  );
}

function SharedThread({ shared }: { readonly shared: SharedChat }) {
  const strings = useShareStrings();
  const { locale, strings: common } = useLanguage();
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'long' });
  const { title, turns, createdAtMs, expiresAtMs } = shared;
  const header = (
    <div className="shared-header">
      <h1>{title || common.untitled}</h1>
      <p>{strings.sharedBy(toDisplayName(shared.from), date.format(createdAtMs))}</p>
      <p className="soft small">{strings.snapshotNote(date.format(expiresAtMs))}</p>
    </div>
  );
  return <ReadOnlyThread turns={turns} header={header} />;
}

/** Copies the shared chat into a chat of the user. */
function CopyBar({ shared }: { readonly shared: SharedChat }) {
  const strings = useShareStrings();
  const { service, library, go, announce, deployments } = usePage();
  const getName = useGetName();
  const { error, isRunning: isCopying, run } = useAction();
  const controller = useRef(new AbortController());
  useEffect(() => {
    const current = new AbortController();
    controller.current = current;
    return () => current.abort();
  }, []);
  // The reader may lack access to the deployment of the shared chat.
  const target = deployments.find(({ id }) => id === shared.deployment) ?? pickDefaultDeployment(deployments);
  const createCopy = async (): Promise<void> => {
    const { signal } = controller.current;
    const { conversation, missingFileCount } = await copyChat(service, shared, signal);
    library.put({ ...conversation, ...(target !== undefined && { deployment: target.id }) }, 'now');
    if (missingFileCount > 0) announce(strings.filesUnavailable);
    go({ at: 'conversation', id: conversation.id });
  };
  return (
    <div className="shared-footer">
      <button {...{ type: 'button', className: 'button primary', disabled: isCopying }} onClick={() => void run(createCopy)}>
        {isCopying ? strings.copying : strings.continueInCopy}
      </button>
      {target !== undefined && target.id !== shared.deployment && (
        <p className="small">{strings.copyContinuesWith(getName(shared.deployment, findStoredName(shared)), target.name)}</p>
      )}
      <p className="soft small">{strings.copyIsPrivate(toDisplayName(shared.from))}</p>
      <ErrorMessage error={error} />
    </div>
  );
}

/** Returns the name of the deployment that the answers of the shared chat contain. */
function findStoredName({ deployment, turns }: SharedChat): string | undefined {
  const reply = turns.findLast((turn) => turn.kind === 'reply' && turn.deployment === deployment);
  return reply?.kind === 'reply' ? reply.deploymentName : undefined;
}

interface ChatCopy {
  readonly conversation: Conversation;
  /** Number of files that are no longer shared. */
  readonly missingFileCount: number;
}

const sharedFilePattern = /^shared-chats\//;

/** Copies a shared chat and its files into a chat of the user. Throws `ServiceError` if the files cannot be copied. */
async function copyChat(service: Service, shared: SharedChat, signal: AbortSignal): Promise<ChatCopy> {
  const files = new FileCopier(service, signal);
  const turns: [string, Turn][] = [];
  for (const turn of shared.turns) turns.push([turn.id, await files.copyTurn(turn)]);
  const nowMs = Date.now();
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const { title, deployment } = shared;
  const conversation = {
    ...{ id: crypto.randomUUID(), title, deployment, ...times },
    ...{ turns: Object.fromEntries(turns), shown: {} },
  };
  return { conversation, missingFileCount: files.missingFileCount };
}

/** Copies each file once, even if it appears several times. */
class FileCopier {
  missingFileCount = 0;
  readonly #service: Service;
  readonly #signal: AbortSignal;
  readonly #copyByUrl = new Map<string, Attachment | undefined>();

  constructor(service: Service, signal: AbortSignal) {
    this.#service = service;
    this.#signal = signal;
  }

  async copyTurn(turn: Turn): Promise<Turn> {
    if (turn.kind === 'question') return { ...turn, attachments: await this.#copyAttachments(turn.attachments) };
    const { attachments = [] } = turn.custom;
    return { ...turn, custom: attachments.length === 0 ? {} : { attachments: await this.#copyAttachments(attachments) } };
  }

  async #copyAttachments<Some extends DisplayedAttachment>(attachments: readonly Some[]): Promise<Some[]> {
    const copies: Some[] = [];
    for (const { url, ...file } of attachments) {
      if (url === undefined || !sharedFilePattern.test(url)) copies.push({ ...file, ...(url !== undefined && { url }) } as Some);
      else copies.push({ ...file, ...(await this.#copyFile(url, file)) } as Some);
    }
    return copies;
  }

  async #copyFile(
    url: string,
    { title = '', type = '' }: { title?: string | undefined; type?: string | undefined },
  ): Promise<Partial<Attachment>> {
    if (!this.#copyByUrl.has(url)) {
      const content = await this.#read(url);
      if (content === undefined) this.missingFileCount += 1;
      const file = content && new File([content], title || 'file', { type });
      const progress = { signal: this.#signal, onProgress: () => undefined };
      this.#copyByUrl.set(url, file && (await attachFile(this.#service, file, progress)));
    }
    const { data, url: ownUrl } = this.#copyByUrl.get(url) ?? {};
    return { ...(data !== undefined && { data }), ...(ownUrl !== undefined && { url: ownUrl }) };
  }

  async #read(url: string): Promise<Blob | undefined> {
    try {
      return await (await this.#service.sendReference(url, { signal: this.#signal })).blob();
    } catch (error) {
      if (toErrorDetails(error).code === 'share_not_found') return undefined;
      throw error;
    }
  }
}
