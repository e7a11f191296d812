import { type ReactNode, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { CodeButton } from '../code/code-button.tsx';
import type { Asking } from '../conversation/asking.ts';
import { type ChatSettings, isSet } from '../conversation/chat-settings.ts';
import { branchesOf, type Conversation, shownTurns, type Turn } from '../conversation/conversation.ts';
import { useConversation, usePage } from '../page/page.tsx';
import { type Lost, toHash } from '../page/place.ts';
import { DialogButton } from '../palette/dialog-button.tsx';
import { toKeys } from '../palette/keys.ts';
import { Icon } from '../parts/icon.tsx';
import { Guard, lazyView } from '../parts/lazy-view.tsx';
import { PageHeader } from '../parts/named-page.tsx';
import { Notice } from '../parts/operator-brand.tsx';
import type { Deployment } from '../service/deployments.ts';
import { ShareButton } from '../share/share-button.tsx';
import { sharedBy } from '../words/shared-by.ts';
import { useWords } from '../words/words.tsx';
import { Beginning } from './beginning.tsx';
import { Composer } from './composer/composer.tsx';
import { ConsentBanner } from './consent/consent-banner.tsx';
import { DeploymentDialog, loadChoice } from './deployments/deployment-dialog.tsx';
import { DeploymentIcon } from './deployments/deployment-icon.tsx';
import { noteUse } from './deployments/favourites.ts';
import { focusMessage } from './focus-message.ts';
import type { Said } from './said.ts';
import { Thread } from './turns/thread.tsx';
import { useAnnouncements } from './use-announcements.ts';
import './deployments/picker.css';
import { toExportJson, toExportMarkdown } from '../conversation/export.ts';
import { Menu } from '../parts/menu.tsx';
import { saveFile, toFileName } from '../parts/save-file.ts';

const FoundBar = lazyView(() => import('../search/found-bar.tsx').then(({ FoundBar: view }) => view));

interface ChatPageProps {
  /** Of the conversation; undefined for one that is yet to begin. */
  readonly id: string | undefined;
  /** The deployment that a new conversation is to begin with. */
  readonly preferred: string | undefined;
  readonly openMenu: () => void;
  /** What the user came for, and is not there. */
  readonly lost: Lost | undefined;
  /** Of a temporary chat: what is said of it, and what was written before it was chosen. */
  readonly temporary?: { readonly strip: ReactNode; readonly leaveTitle: string; readonly firstText: string };
}

const lastDeployment = 'parley deployment';

/** One conversation, or the place to begin one. */
export function ChatPage({ id, preferred, openMenu, lost, temporary }: ChatPageProps) {
  const words = useWords();
  const { library, asking, deployments, go } = usePage();
  const conversation = useConversation(id ?? '');
  const [wanted, setWanted] = useState(preferred);
  const [settings, setSettings] = useState<ChatSettings>({});
  const deploymentId = conversation?.deployment ?? wanted ?? '';
  const deployment =
    deployments.find((each) => each.id === deploymentId) ?? (conversation === undefined ? firstOf(deployments) : undefined);
  const sharer = deployment === undefined ? '' : sharedBy(deployment, words);
  const turns = useMemo(() => (conversation === undefined ? [] : shownTurns(conversation)), [conversation]);
  const last = turns.at(-1);
  const running = runningOf(asking, conversation, last);
  useAnnouncements(last);

  useEffect(() => {
    if (id !== undefined) void library.open(id).then((isThere) => !isThere && go({ at: 'new', lost: 'conversation' }));
  }, [id, library, go]);
  useTabTitle(temporary === undefined ? conversation?.title : words.temporaryChat);

  const choose = (chosen: string): void => {
    localStorage.setItem(lastDeployment, chosen);
    setWanted(chosen);
    if (id !== undefined) library.change(id, (now) => ({ ...now, deployment: chosen }));
  };
  const set = (next: ChatSettings): void => {
    setSettings(next);
    if (id !== undefined) library.change(id, (now) => ({ ...now, settings: next }));
  };
  const say = useCallback(
    (said: Said): void => {
      if (deployment === undefined) return;
      localStorage.setItem(lastDeployment, deployment.id);
      noteUse(deployment.id);
      const target = conversation ?? { ...begin(deployment.id), settings };
      if (conversation === undefined) library.put(target);
      void asking.ask(target.id, { parent: shownTurns(target).at(-1)?.id ?? '', ...said });
      if (conversation === undefined) go({ at: 'conversation', id: target.id });
    },
    [conversation, deployment, settings, library, asking, go],
  );

  if (id !== undefined && conversation === undefined) return <main className="content" aria-busy="true" />;
  return (
    <main className="content">
      {conversation !== undefined && <h1 className="heard-only">{conversation.title || words.untitled}</h1>}
      <PageHeader openMenu={openMenu}>
        <DeploymentPicker {...{ deployments, chosen: deployment, missing: deploymentId, choose }} />
        <ChatSettingsButton settings={conversation?.settings ?? settings} deployment={deployment} change={set} />
        {deployment !== undefined && <CodeButton deployment={deployment} />}
        <ConversationTools {...{ conversation, leaveTitle: temporary?.leaveTitle }} deployment={deployment?.id} />
      </PageHeader>
      {conversation === undefined && <Notice />}
      {temporary?.strip}
      <Found conversation={conversation} />
      {sharer !== '' && <p className="shared-strip small">{sharer}</p>}
      {conversation === undefined ? <Beginning {...{ deployment, say, choose }} /> : <Thread {...{ conversation, turns, say }} />}
      <div className="below">
        {deployment !== undefined && <ConsentBanner key={deployment.id} deployment={deployment} conversation={id} last={last} />}
        <Notices {...{ deployment, deploymentId, lost }} isNew={conversation === undefined} />
        <Composer
          key={id ?? 'new'}
          {...{ deployment, say, conversationId: id, running: running?.id }}
          {...(temporary === undefined ? { draftOf: id ?? 'new' } : { firstText: temporary.firstText })}
        />
        <Hint isNew={conversation === undefined} />
      </div>
    </main>
  );
}

/** The answer that is under way, or one of those that come beside the one that is shown. */
function runningOf(asking: Asking, conversation: Conversation | undefined, last: Turn | undefined): Turn | undefined {
  if (last?.kind !== 'reply' || conversation === undefined) return undefined;
  const replies = asking.isBeside(last.parent) ? (branchesOf(conversation).get(last.parent) ?? []) : [last];
  return replies.find((reply) => reply.kind === 'reply' && reply.state === 'running');
}

/** Marks the words that the conversation was found by, if it was. */
function Found({ conversation }: { readonly conversation: Conversation | undefined }) {
  const { place } = usePage();
  if (conversation === undefined || place.at !== 'conversation' || place.find === undefined) return null;
  return (
    <Guard instead={null}>
      <Suspense fallback={null}>
        <FoundBar {...{ conversation, query: place.find }} />
      </Suspense>
    </Guard>
  );
}

interface ConversationToolsProps {
  readonly conversation: Conversation | undefined;
  /** Of a temporary chat, the name of the link that leads out of it. */
  readonly leaveTitle: string | undefined;
  /** Whom it is with. */
  readonly deployment: string | undefined;
}

/** What can be done with a conversation; before it begins it can be made one that is kept nowhere. */
function ConversationTools({ conversation, leaveTitle, deployment }: ConversationToolsProps) {
  const words = useWords();
  const isTemporary = leaveTitle !== undefined;
  const title = leaveTitle ?? words.temporaryChat;
  const at = { at: isTemporary ? 'new' : 'temporary', ...(deployment !== undefined && { deployment }) } as const;
  return (
    <>
      {(conversation === undefined || isTemporary) && (
        <a className={isTemporary ? 'icon-button marked' : 'icon-button'} href={toHash(at)} aria-label={title} title={title}>
          <Icon name="hourglass" />
        </a>
      )}
      {conversation !== undefined && !isTemporary && <ShareButton conversation={conversation.id} />}
      {conversation !== undefined && <ExportMenu conversation={conversation} />}
    </>
  );
}

/** The title of the tab, which the browser keeps in its history. */
function useTabTitle(title = ''): void {
  const { product } = useWords();
  useEffect(() => {
    document.title = title === '' ? product : `${title} · ${product}`;
  }, [title, product]);
}

/** What keys bring, where somebody is about to write for the first time. */
function Hint({ isNew }: { readonly isNew: boolean }) {
  const words = useWords();
  return isNew && <p className="composer-hint soft small">{words.composerHint(toKeys('Mod K').join(' '))}</p>;
}

interface NoticesProps extends Pick<ChatPageProps, 'lost'> {
  readonly deployment: Deployment | undefined;
  /** What was wished for. */
  readonly deploymentId: string;
  readonly isNew: boolean;
}

/** What is not as the user wished it. */
function Notices({ deployment, deploymentId, lost, isNew }: NoticesProps) {
  const words = useWords();
  const isGone = deployment === undefined && deploymentId !== '';
  const isAnother = isNew && deployment !== undefined && deploymentId !== '' && deployment.id !== deploymentId;
  return (
    <>
      {lost !== undefined && <p className="note">{lost === 'view' ? words.viewLost : words.conversationLost}</p>}
      {isGone && <p className="note">{words.deploymentGone(deploymentId)}</p>}
      {isAnother && <p className="note">{words.deploymentNotOpen(deploymentId, deployment.name)}</p>}
    </>
  );
}

const sample = 'sample';

/**
 * Whom a first question goes to: the last one used, else the sample, else the first of the service that answers at once. Never
 * what another user saved, whatever it calls itself: that is for the user to choose.
 */
function firstOf(deployments: readonly Deployment[]): Deployment | undefined {
  const open = deployments.filter(({ maker }) => maker !== 'other').sort((one, other) => one.place - other.place);
  const lastUsed = localStorage.getItem(lastDeployment);
  return (
    open.find(({ id }) => id === lastUsed) ??
    open.find(({ id }) => id === sample) ??
    open.find(({ requiresConsent }) => !requiresConsent) ??
    open[0]
  );
}

function begin(deployment: string): Conversation {
  const now = Date.now();
  return { id: crypto.randomUUID(), title: '', deployment, createdAtMs: now, updatedAtMs: now, turns: {}, shown: {} };
}

const SettingsDialog = lazyView(() => import('./settings/chat-settings-dialog.tsx').then(({ ChatSettingsDialog: view }) => view));

interface ChatSettingsButtonProps {
  readonly settings: ChatSettings;
  readonly deployment: Deployment | undefined;
  readonly change: (settings: ChatSettings) => void;
}

/** Opens what is set for this conversation; tells whether anything is. */
function ChatSettingsButton({ settings, deployment, change }: ChatSettingsButtonProps) {
  const words = useWords();
  const isMarked = isSet(settings);
  const label = isMarked ? words.chatSettingsSet : words.chatSettings;
  return (
    <DialogButton {...{ id: 'chat settings', icon: 'sliders', title: words.chatSettings, label, form: 'icon', isMarked }}>
      {(close) => <SettingsDialog {...{ settings, deployment, change, close }} />}
    </DialogButton>
  );
}

interface DeploymentPickerProps {
  readonly deployments: readonly Deployment[];
  readonly chosen: Deployment | undefined;
  /** Shown where the chosen one is not offered any more. */
  readonly missing: string;
  readonly choose: (id: string) => void;
}

/** Whom the next question goes to, and a dialog to choose another. */
function DeploymentPicker({ deployments, chosen, missing, choose }: DeploymentPickerProps) {
  const words = useWords();
  const [isOpen, setIsOpen] = useState(false);
  const pick = (id: string): void => {
    choose(id);
    focusMessage();
  };
  return (
    <>
      <button
        {...{ type: 'button', className: 'picker', 'aria-haspopup': 'dialog', disabled: deployments.length === 0 }}
        onFocus={loadChoice}
        onPointerEnter={loadChoice}
        onClick={() => setIsOpen(true)}
      >
        {chosen !== undefined && <DeploymentIcon deployment={chosen} />}
        <span className="heard-only">{words.deployment}: </span>
        <span className="picker-name">{chosen?.name ?? (missing || words.chooseDeployment)}</span>
        <Icon name="down" />
      </button>
      {isOpen && (
        <DeploymentDialog {...{ title: words.chooseDeployment, chosen: chosen?.id, pick }} close={() => setIsOpen(false)} />
      )}
    </>
  );
}

/** Takes the conversation out of the browser. */
function ExportMenu({ conversation }: { readonly conversation: Conversation }) {
  const words = useWords();
  const save = (extension: string, type: string, text: string): void =>
    saveFile(toFileName(conversation.title, extension), new Blob([text], { type }));
  return (
    <Menu label={words.exportConversation} icon={<Icon name="save" />}>
      <button type="button" onClick={() => save('json', 'application/json', toExportJson(conversation))}>
        {words.asJson}
      </button>
      <button type="button" onClick={() => save('md', 'text/markdown', toExportMarkdown(conversation, words.you))}>
        {words.asMarkdown}
      </button>
    </Menu>
  );
}
