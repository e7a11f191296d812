import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { CodeButton } from '../code/code-button.tsx';
import { type ChatSettings, hasSettings } from '../conversation/chat-settings.ts';
import { type Conversation, groupBranches, listVisibleTurns, type Turn, type UserMessage } from '../conversation/conversation.ts';
import type { ReplyRunner } from '../conversation/reply-runner.ts';
import { DialogButton } from '../palette/dialog-button.tsx';
import { formatKeys } from '../palette/format-keys.ts';
import { Icon } from '../parts/icon.tsx';
import { Guard, lazyView } from '../parts/lazy-view.tsx';
import { Menu } from '../parts/menu.tsx';
import { PageHeader, useTitle } from '../parts/named-page.tsx';
import { OperatorNotice } from '../parts/operator-brand.tsx';
import { type Deployment, getReadableName } from '../service/deployments.ts';
import { ShareButton } from '../share/share-button.tsx';
import { useConversation, usePage } from '../shell/page.tsx';
import { formatRoute, type MissingTarget } from '../shell/route.ts';
import { useExport } from '../shell/use-export.ts';
import { useStrings } from '../strings/strings.tsx';
import { Composer } from './composer/composer.tsx';
import { saveDraft, toUnseenKey } from './composer/drafts.ts';
import { ConsentBanner } from './consent/consent-banner.tsx';
import { DeploymentDialog, loadChoice } from './deployments/deployment-dialog.tsx';
import { DeploymentIcon } from './deployments/deployment-icon.tsx';
import { pickDefaultDeployment, recordUse, saveLastDeployment } from './deployments/favorites.ts';
import { focusMessage } from './focus-message.ts';
import { StartView } from './start-view.tsx';
import { useAnnouncements } from './use-announcements.ts';
import './deployments/picker.css';

const importThread = () => import('./turns/thread.tsx');
const preloadThread = (): void => void importThread().catch(() => undefined);
const Thread = lazyView(() => importThread().then(({ Thread: view }) => view));
const ChatUsage = lazyView(() => import('./chat-usage.tsx').then(({ ChatUsage: view }) => view));
const MatchBar = lazyView(() => import('../search/match-bar.tsx').then(({ MatchBar: view }) => view));

interface ChatPageProps {
  /** ID of the chat. Undefined before a new chat starts. */
  readonly id: string | undefined;
  /** Deployment that a new chat starts with. */
  readonly preferred: string | undefined;
  /** Project that a new chat belongs to. */
  readonly project?: string | undefined;
  readonly openMenu: () => void;
  /** Set if the chat or view that the user opened does not exist. */
  readonly missingTarget: MissingTarget | undefined;
  /**
   * For a temporary chat: its banner, the name of the link that leaves it, and the text that the user entered before starting it.
   */
  readonly temporary?: { readonly banner: ReactNode; readonly leaveTitle: string; readonly initialText: string };
}

/** One chat, or the start view of a new chat. */
export function ChatPage({ id, preferred, project, openMenu, missingTarget, temporary }: ChatPageProps) {
  const strings = useStrings();
  const { library, replyRunner, deployments, go } = usePage();
  const conversation = useConversation(id ?? '');
  const [preferredId, setPreferredId] = useState(preferred);
  const [settings, setSettings] = useState<ChatSettings>({});
  const deploymentId = conversation?.deployment ?? preferredId ?? '';
  const deployment =
    deployments.find((candidate) => candidate.id === deploymentId) ??
    (conversation === undefined ? pickDefaultDeployment(deployments) : undefined);
  const turns = useMemo(() => (conversation === undefined ? [] : listVisibleTurns(conversation)), [conversation]);
  const last = turns.at(-1);
  const runningReply = findRunningReply(replyRunner, conversation, last);
  useAnnouncements(last);
  useUnseenMark(id);
  useEffect(() => {
    // The code of the thread is not part of the first load, so the first key press or click loads it.
    for (const type of ['keydown', 'pointerdown']) document.addEventListener(type, preloadThread, { once: true });
  }, []);

  useEffect(() => {
    if (id !== undefined) void library.open(id).then((exists) => !exists && go({ at: 'new', missingTarget: 'conversation' }));
  }, [id, library, go]);
  useTitle(temporary === undefined ? conversation?.title : strings.temporaryChat);

  const choose = (selectedId: string): void => {
    saveLastDeployment(selectedId);
    setPreferredId(selectedId);
    if (id !== undefined) library.change(id, (current) => ({ ...current, deployment: selectedId }));
  };
  const changeSettings = (next: ChatSettings): void => {
    setSettings(next);
    if (id !== undefined) library.change(id, (current) => ({ ...current, settings: next }));
  };
  const chatSettings = { settings: conversation?.settings ?? settings, change: changeSettings };
  const sendMessage = useCallback(
    (message: UserMessage): void => {
      if (deployment === undefined) return;
      saveLastDeployment(deployment.id);
      recordUse(deployment.id);
      const target = conversation ?? { ...createConversation(deployment.id, project), settings };
      if (conversation === undefined) library.put(target);
      void replyRunner.sendQuestion(target.id, { parent: listVisibleTurns(target).at(-1)?.id ?? '', ...message });
      if (conversation === undefined) go({ at: 'conversation', id: target.id });
    },
    [conversation, deployment, project, settings, library, replyRunner, go],
  );

  if (id !== undefined && conversation === undefined) return <main className="content" aria-busy="true" />;
  return (
    <main className="content">
      {conversation !== undefined && <h1 className="visually-hidden">{conversation.title || strings.untitled}</h1>}
      <PageHeader openMenu={openMenu}>
        <DeploymentPicker {...{ deployments, selected: deployment, missing: deploymentId, choose }} />
        <ChatSettingsButton {...chatSettings} deployment={deployment} />
        {deployment !== undefined && <CodeButton deployment={deployment} />}
        <ConversationTools {...{ conversation, leaveTitle: temporary?.leaveTitle }} deployment={deployment?.id} />
      </PageHeader>
      {conversation === undefined && <OperatorNotice />}
      {temporary?.banner}
      <Guard
        fallback={
          <p className="sheet note" role="alert">
            {strings.partMissing}
          </p>
        }
        pending={<div className="start-view" aria-busy="true" />}
      >
        {/* Inside the boundary, because the search reads the turns when it appears. */}
        <SearchMatches conversation={conversation} />
        {deployment?.owner === 'other' && (
          <p className="shared-strip soft small">{strings.applicationByOther(deployment.ownerName)}</p>
        )}
        {conversation === undefined ? (
          <StartView {...{ deployment, project, sendMessage, choose }} />
        ) : (
          <Thread {...{ conversation, turns, sendMessage }} />
        )}
      </Guard>
      <div className="thread-footer">
        {deployment && <ConsentBanner key={deployment.id} {...{ deployment, lastTurn: last, conversationId: id }} />}
        <Notices {...{ deployment, deploymentId, missingTarget }} isNew={conversation === undefined} />
        <Composer
          key={id ?? 'new'}
          {...{ deployment, sendMessage, conversationId: id, runningId: runningReply?.id, chatSettings }}
          {...(temporary === undefined ? { draftKey: id ?? 'new' } : { initialText: temporary.initialText })}
        />
        {conversation === undefined && (
          <p className="composer-hint soft small">{strings.composerHint(formatKeys('Mod K').join(' '))}</p>
        )}
        {turns.some((turn) => turn.kind === 'reply' && turn.usage !== undefined) && (
          <Guard fallback={null}>
            <ChatUsage {...{ conversation, turns, deployment }} />
          </Guard>
        )}
      </div>
    </main>
  );
}

/** Marks a chat in the list if the user leaves it before its answer ends. */
function useUnseenMark(id = ''): void {
  const { replyRunner, user, isTest = false, isTemporary = false } = usePage();
  const isAnswering = replyRunner.isAnswering(id);
  useEffect(() => {
    if (id !== '' && !isTest && !isTemporary) saveDraft(user, toUnseenKey(id), isAnswering ? 'yes' : '');
  }, [user, id, isTest, isTemporary, isAnswering]);
}

/** Returns the answer in progress: the visible one, or one that is shown side by side with it. */
function findRunningReply(
  replyRunner: ReplyRunner,
  conversation: Conversation | undefined,
  last: Turn | undefined,
): Turn | undefined {
  if (last?.kind !== 'reply' || conversation === undefined) return undefined;
  const replies = replyRunner.isSideBySide(last.parent) ? (groupBranches(conversation).get(last.parent) ?? []) : [last];
  return replies.find((reply) => reply.kind === 'reply' && reply.state === 'running');
}

/** Highlights the search words if the chat was opened from a search result. */
function SearchMatches({ conversation }: { readonly conversation: Conversation | undefined }) {
  const { route } = usePage();
  if (conversation === undefined || route.at !== 'conversation' || route.find === undefined) return null;
  return (
    <Guard fallback={null}>
      <MatchBar {...{ conversation, query: route.find }} />
    </Guard>
  );
}

interface ConversationToolsProps {
  readonly conversation: Conversation | undefined;
  /** Name of the link that leaves a temporary chat. */
  readonly leaveTitle: string | undefined;
  /** Deployment of the chat. */
  readonly deployment: string | undefined;
}

/** Actions of a chat. A chat that has not started can become temporary. */
function ConversationTools({ conversation, leaveTitle, deployment }: ConversationToolsProps) {
  const strings = useStrings();
  const isTemporary = leaveTitle !== undefined;
  const title = leaveTitle ?? strings.temporaryChat;
  const to = { at: isTemporary ? 'new' : 'temporary', ...(deployment !== undefined && { deployment }) } as const;
  return (
    <>
      {(conversation === undefined || isTemporary) && (
        <a className={isTemporary ? 'icon-button marked' : 'icon-button'} href={formatRoute(to)} aria-label={title} title={title}>
          <Icon name="hourglass" />
          <span className="icon-text">{title}</span>
        </a>
      )}
      {conversation !== undefined && !isTemporary && <ShareButton conversationId={conversation.id} />}
      {conversation !== undefined && <ExportMenu conversation={conversation} />}
    </>
  );
}

interface NoticesProps extends Pick<ChatPageProps, 'missingTarget'> {
  readonly deployment: Deployment | undefined;
  /** Requested deployment. */
  readonly deploymentId: string;
  readonly isNew: boolean;
}

/** Notices that a chat, a view, or the requested deployment is unavailable. */
function Notices({ deployment, deploymentId, missingTarget, isNew }: NoticesProps) {
  const strings = useStrings();
  const name = getReadableName(deploymentId);
  const isMissing = deployment === undefined && deploymentId !== '';
  const isReplaced = isNew && deployment !== undefined && deploymentId !== '' && deployment.id !== deploymentId;
  return (
    <>
      {missingTarget !== undefined && (
        <p className="note">{missingTarget === 'view' ? strings.viewNotFound : strings.conversationNotFound}</p>
      )}
      {isMissing && <p className="note">{strings.deploymentUnavailable(name)}</p>}
      {isReplaced && <p className="note">{strings.deploymentNotOpen(name, deployment.name)}</p>}
    </>
  );
}

function createConversation(deployment: string, project: string | undefined): Conversation {
  const nowMs = Date.now();
  return {
    ...{ id: crypto.randomUUID(), title: '', deployment, createdAtMs: nowMs, updatedAtMs: nowMs, turns: {}, shown: {} },
    ...(project !== undefined && { tags: [project] }),
  };
}

const SettingsDialog = lazyView(() => import('./settings/chat-settings-dialog.tsx').then(({ ChatSettingsDialog: view }) => view));

interface ChatSettingsButtonProps {
  readonly settings: ChatSettings;
  readonly deployment: Deployment | undefined;
  readonly change: (settings: ChatSettings) => void;
}

/** Opens the chat settings, and shows whether any are set. */
function ChatSettingsButton({ settings, deployment, change }: ChatSettingsButtonProps) {
  const strings = useStrings();
  const isMarked = hasSettings(settings);
  const label = isMarked ? strings.chatSettingsSet : strings.chatSettings;
  return (
    <DialogButton {...{ id: 'chat settings', icon: 'sliders', title: strings.chatSettings, label, form: 'icon', isMarked }}>
      {(close) => <SettingsDialog {...{ settings, deployment, change, close }} />}
    </DialogButton>
  );
}

interface DeploymentPickerProps {
  readonly deployments: readonly Deployment[];
  readonly selected: Deployment | undefined;
  /** Shown if the selected deployment is no longer available. */
  readonly missing: string;
  readonly choose: (id: string) => void;
}

/** The deployment of the next question, with a dialog to choose another. */
function DeploymentPicker({ deployments, selected, missing, choose }: DeploymentPickerProps) {
  const strings = useStrings();
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
        {selected !== undefined && <DeploymentIcon deployment={selected} />}
        <span className="visually-hidden">{strings.deployment}: </span>
        <span className="picker-name">{selected?.name ?? (getReadableName(missing) || strings.chooseDeployment)}</span>
        <Icon name="down" />
      </button>
      {isOpen && (
        <DeploymentDialog
          {...{ title: strings.chooseDeployment, selectedId: selected?.id, pick }}
          close={() => setIsOpen(false)}
        />
      )}
    </>
  );
}

/** Downloads the chat. */
function ExportMenu({ conversation }: { readonly conversation: Conversation }) {
  const strings = useStrings();
  const save = useExport();
  return (
    <Menu label={strings.exportConversation} icon={<Icon name="save" />}>
      <button type="button" onClick={() => void save(Promise.resolve(conversation), 'json')}>
        {strings.asJson}
      </button>
      <button type="button" onClick={() => void save(Promise.resolve(conversation), 'markdown')}>
        {strings.asMarkdown}
      </button>
    </Menu>
  );
}
