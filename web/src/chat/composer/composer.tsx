import {
  type ClipboardEvent,
  type FormEvent,
  type KeyboardEvent,
  Suspense,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import type { ChatSettings } from '../../conversation/chat-settings.ts';
import type { UserMessage } from '../../conversation/conversation.ts';
import type { QueuedMessage } from '../../conversation/outbox.ts';
import { Icon, IconButton, TextButton } from '../../parts/icon.tsx';
import { isComposing } from '../../parts/is-composing.ts';
import { Guard, LazyDialog, lazyView } from '../../parts/lazy-view.tsx';
import { Menu } from '../../parts/menu.tsx';
import type { Deployment } from '../../service/deployments.ts';
import { useIsUnreachable } from '../../service/reachability.ts';
import { usePage } from '../../shell/page.tsx';
import { onDictationChange, readDictation } from '../../speech/recognition.ts';
import { useLanguage, useStrings } from '../../strings/strings.tsx';
import { focusMessage } from '../focus-message.ts';
import { readDraft, saveDraft } from './drafts.ts';
import type { UploadListProps } from './upload-list.tsx';
import { useMentions, usePromptChoice } from './use-composer-choices.tsx';
import { useFileDrop, useUploads } from './use-uploads.ts';
import './composer.css';

const SettingRow = lazyView(() => import('../settings/setting-choices.tsx').then(({ SettingRow: view }) => view));
const UploadList = lazyView(() => import('./upload-list.tsx').then(({ UploadList: view }) => view));
const QueueList = lazyView(() => import('./queue-list.tsx').then(({ QueueList: view }) => view));
const FilePicker = lazyView(() => import('../../files/file-picker.tsx').then(({ FilePicker: view }) => view));
const DictateButton = lazyView(() => import('../../speech/dictate-button.tsx').then(({ DictateButton: view }) => view));

interface SettingsControl {
  readonly settings: ChatSettings;
  readonly change: (settings: ChatSettings) => void;
}

interface ComposerProps {
  readonly deployment: Deployment | undefined;
  readonly sendMessage: (message: UserMessage) => void;
  /** Key of the stored draft. Undefined if no draft is stored. */
  readonly draftKey?: string;
  /** Initial text if no draft is stored. */
  readonly initialText?: string;
  /** Undefined before a new chat starts. */
  readonly conversationId: string | undefined;
  /** ID of the reply in progress. */
  readonly runningId: string | undefined;
  /** Undefined if the chat has no settings. */
  readonly chatSettings?: SettingsControl;
}

/** The message input. Files can be chosen, pasted, or dropped. */
export function Composer({
  deployment,
  sendMessage,
  draftKey,
  initialText = '',
  conversationId = '',
  runningId,
  chatSettings,
}: ComposerProps) {
  const { strings, locale } = useLanguage();
  const [text, setText] = useDraft(draftKey, initialText);
  const { service, outbox, hasAddons, storesFiles } = usePage();
  const [isPicking, setIsPicking] = useState(false);
  const queuedMessages = useSyncExternalStore(outbox.subscribe, () => outbox.getMessages(conversationId));
  const canDictate = useSyncExternalStore(onDictationChange, readDictation) !== 'off';
  const [dictationCount, setDictationCount] = useState(0);
  const { choice, handlePromptKey } = usePromptChoice(text, setText);
  const { mentions, ...mentioning } = useMentions(text, setText);
  const recipients = mentions.length > 0 || deployment === undefined ? mentions : [deployment];
  const { uploads, add, remove, clear, restore, isBlocked, isUploading, readyAttachments } = useUploads(recipients);
  const isDraggingOver = useFileDrop(add);
  const isUnreachable = useIsUnreachable(service.reachability);
  const canReason = deployment?.canReason === true;
  const canUseAddons = hasAddons && deployment?.isApplication === false && deployment.hasTools;
  const hasContent = text.trim() !== '' || readyAttachments.length > 0;
  const canSend = deployment !== undefined && !isBlocked && !isUnreachable && hasContent;
  const [sendsWhenUploaded, setSendsWhenUploaded] = useState(false);

  useEffect(focusMessage, []);
  const send = (event?: FormEvent): void => {
    event?.preventDefault();
    setSendsWhenUploaded(isUploading);
    if (!canSend) return;
    const message = {
      text: text.trim(),
      attachments: readyAttachments,
      ...(mentions.length > 0 && { deployments: mentions.map((item) => item.id) }),
    };
    if (runningId === undefined) sendMessage(message);
    else outbox.add(conversationId, message);
    setText('');
    // A new key ends the dictation, so that its text does not go into the next message.
    setDictationCount(dictationCount + 1);
    clear();
    setOfferedFiles([]);
    mentioning.forget();
  };
  const sendUploaded = useEffectEvent(() => send());
  useEffect(() => {
    if (sendsWhenUploaded && !isUploading) sendUploaded();
  }, [sendsWhenUploaded, isUploading]);
  const editQueued = (message: QueuedMessage): void => {
    outbox.remove(conversationId, message.id);
    setText([message.text, text].filter((part) => part !== '').join('\n\n'));
    restore(message.attachments);
    if (message.deployments !== undefined) mentioning.restore(message.deployments);
    focusMessage();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isComposing(event.nativeEvent) || handlePromptKey(event) || mentioning.handleMentionKey(event)) return;
    if (event.key === 'ArrowUp' && text === '') {
      const last = queuedMessages.at(-1);
      if (last !== undefined) editQueued(last);
      if (last !== undefined || editLast()) event.preventDefault();
    }
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    send();
  };
  const [offeredFiles, setOfferedFiles] = useState<readonly File[]>([]);
  const onPaste = (event: ClipboardEvent): void => {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    // Office programs copy a picture of the text together with the text.
    if (event.clipboardData.getData('text/plain').trim() !== '') return setOfferedFiles(files);
    event.preventDefault();
    add(files);
  };
  const attachOffered = (isAccepted: boolean): void => {
    if (isAccepted) add(offeredFiles);
    setOfferedFiles([]);
    focusMessage();
  };
  const removeUpload = (id: string): void => {
    remove(id);
    focusMessage();
  };
  return (
    <>
      {choice}
      {mentioning.choice}
      {queuedMessages.length > 0 && (
        <Guard fallback={null}>
          <QueueList {...{ messages: queuedMessages, conversationId, editQueued }} isAnswering={runningId !== undefined} />
        </Guard>
      )}
      {isPicking && (
        <LazyDialog onClose={() => setIsPicking(false)}>
          <FilePicker attach={restore} close={() => setIsPicking(false)} />
        </LazyDialog>
      )}
      <form className="composer" onSubmit={send} onPaste={onPaste}>
        {isDraggingOver && (
          <p className="drop-hint">
            <Icon name="clip" />
            {strings.dropHere}
          </p>
        )}
        {mentioning.chips}
        <Uploads uploads={uploads} remove={removeUpload} />
        {sendsWhenUploaded && (
          <p className="small soft" role="status">
            {strings.sendsWhenUploaded}
          </p>
        )}
        {offeredFiles.length > 0 && <PasteOffer settle={attachOffered} />}
        <div className="composer-row">
          <FileChooser types={deployment?.attachmentTypes} add={add} {...(storesFiles && { pick: () => setIsPicking(true) })} />
          <textarea
            {...{
              id: 'message',
              dir: 'auto',
              rows: 1,
              value: text,
              onKeyDown,
              'aria-label': strings.message,
              title: strings.sendHint,
            }}
            placeholder={deployment && strings.messagePlaceholder(formatNames(recipients, locale))}
            onChange={({ target }) => {
              setText(target.value);
              setSendsWhenUploaded(false);
            }}
          />
          {canDictate && (
            <Suspense fallback={null}>
              <DictateButton key={dictationCount} {...{ text, setText }} />
            </Suspense>
          )}
          {runningId !== undefined && <StopButton runningId={runningId} />}
          {(runningId === undefined || hasContent) && (
            <SendButton
              {...{ isUnreachable }}
              canSend={canSend || (isUploading && deployment !== undefined)}
              isLater={runningId !== undefined}
            />
          )}
        </div>
        {chatSettings !== undefined && (canReason || canUseAddons) && (
          <Guard fallback={null}>
            <SettingRow {...{ ...chatSettings, canReason, canUseAddons }} />
          </Guard>
        )}
      </form>
    </>
  );
}

/** Files of a message. The code is loaded for the first file. */
export function Uploads(props: UploadListProps) {
  if (props.uploads.length === 0) return null;
  return (
    <Guard fallback={null}>
      <UploadList {...props} />
    </Guard>
  );
}

/** Offers the picture that was pasted together with a text. */
function PasteOffer({ settle }: { readonly settle: (isAccepted: boolean) => void }) {
  const strings = useStrings();
  return (
    <p className="paste-offer small" role="status">
      <Icon name="picture" />
      {strings.pictureInPaste}
      <TextButton className="button slim" onClick={() => settle(true)}>
        {strings.attachPicture}
      </TextButton>
      <IconButton icon="close" onClick={() => settle(false)} label={strings.close} />
    </p>
  );
}

interface FileChooserProps {
  readonly types: readonly string[] | undefined;
  readonly add: (files: Iterable<File>) => void;
  /** Opens the picker of stored files. Undefined if the service does not store files. */
  readonly pick?: () => void;
}

function FileChooser({ types, add, pick }: FileChooserProps) {
  const strings = useStrings();
  const chooser = useRef<HTMLInputElement>(null);
  const upload = (): void => chooser.current?.click();
  return (
    <>
      {pick === undefined ? (
        <IconButton icon="clip" label={strings.attach} onClick={upload} />
      ) : (
        <Menu label={strings.attach} icon={<Icon name="clip" />}>
          <button type="button" onClick={upload}>
            {strings.attachUpload}
          </button>
          <button type="button" onClick={pick}>
            {strings.attachStored}
          </button>
        </Menu>
      )}
      <input
        {...{ ref: chooser, type: 'file', multiple: true, hidden: true, accept: types?.join(',') }}
        aria-label={strings.attach}
        onChange={({ target }) => {
          add(target.files ?? []);
          focusMessage();
          target.value = '';
        }}
      />
    </>
  );
}

function formatNames(deployments: readonly Deployment[], locale: string): string {
  return new Intl.ListFormat(locale).format(deployments.map(({ name }) => name));
}

interface SendButtonProps {
  readonly canSend: boolean;
  readonly isUnreachable: boolean;
  /** Whether the message waits for the current answer. */
  readonly isLater: boolean;
}

function SendButton({ canSend, isUnreachable, isLater }: SendButtonProps) {
  const strings = useStrings();
  const name = isLater ? strings.sendLater : strings.send;
  return (
    <button
      {...{ type: 'submit', className: 'round primary', 'aria-label': name, disabled: !canSend }}
      title={isUnreachable ? strings.sendWhenReachable : name}
    >
      <Icon name="send" />
    </button>
  );
}

/** Stops the current answer. */
function StopButton({ runningId }: { readonly runningId: string }) {
  const { stop: name } = useStrings();
  const { replyRunner } = usePage();
  const stop = (): void => {
    replyRunner.stop(runningId);
    focusMessage();
  };
  return (
    <button {...{ type: 'button', className: 'round stop', 'aria-label': name, title: name, onClick: stop }}>
      <Icon name="stop" />
    </button>
  );
}

/** Starts to edit the last question. Returns false if there is none. */
function editLast(): boolean {
  const last = [...document.querySelectorAll<HTMLElement>('.thread .edit-question')].at(-1);
  last?.click();
  return last !== undefined;
}

function useDraft(draftKey: string | undefined, initialText: string): readonly [string, (text: string) => void] {
  const { user } = usePage();
  const [text, setText] = useState(() => (draftKey === undefined ? initialText : readDraft(user, draftKey)));
  const updateText = (next: string): void => {
    setText(next);
    if (draftKey !== undefined) saveDraft(user, draftKey, next);
  };
  return [text, updateText];
}
