import {
  type ClipboardEvent,
  type FormEvent,
  type KeyboardEvent,
  Suspense,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import type { Waiting } from '../../conversation/outbox.ts';
import { usePage } from '../../page/page.tsx';
import { Icon } from '../../parts/icon.tsx';
import { isComposing } from '../../parts/is-composing.ts';
import { Guard, lazyView } from '../../parts/lazy-view.tsx';
import type { Deployment } from '../../service/deployments.ts';
import { useAway } from '../../service/use-away.ts';
import { onChosen, readDictation } from '../../speech/recognition.ts';
import { useLanguage, useWords } from '../../words/words.tsx';
import { focusMessage } from '../focus-message.ts';
import type { Said } from '../said.ts';
import { keepDraft, readDraft } from './drafts.ts';
import { useAddressee, usePromptChoice } from './use-composer-choices.tsx';
import { type Upload, useFileDrop, useUploads } from './use-uploads.ts';
import './composer.css';
import type { Attachment } from '#contract/chat/message.ts';
import { fileNotKept } from '../../service/attach-file.ts';
import type { Fault } from '../../service/fault.ts';
import type { Words } from '../../words/english.ts';

const QueueList = lazyView(() => import('./queue-list.tsx').then(({ QueueList: view }) => view));
const DictateButton = lazyView(() => import('../../speech/dictate-button.tsx').then(({ DictateButton: view }) => view));

interface ComposerProps {
  readonly deployment: Deployment | undefined;
  readonly say: (said: Said) => void;
  /** Names the draft that is kept; absent where nothing is to be kept. */
  readonly draftOf?: string;
  /** What is written already where no draft is kept. */
  readonly firstText?: string;
  /** Undefined for one that is yet to begin. */
  readonly conversationId: string | undefined;
  /** The reply that is under way. */
  readonly running: string | undefined;
}

/** Where the user writes. Files come by choosing, pasting and dropping. */
export function Composer({ deployment, say, draftOf, firstText = '', conversationId = '', running }: ComposerProps) {
  const { words, language } = useLanguage();
  const [text, setText] = useDraft(draftOf, firstText);
  const { uploads, add, remove, clear, restore, isUploading, ready } = useUploads();
  const { service, outbox } = usePage();
  const waiting = useSyncExternalStore(outbox.subscribe, () => outbox.waiting(conversationId));
  const isOver = useFileDrop(add);
  const canDictate = useSyncExternalStore(onChosen, readDictation) !== 'off';
  const [dictated, setDictated] = useState(0);
  const { choice, chooseKeys } = usePromptChoice(text, setText);
  const { addressees, ...address } = useAddressee(text, setText);
  const isAway = useAway(service);
  const isSomething = text.trim() !== '' || ready.length > 0;
  const canSend = deployment !== undefined && !isUploading && !isAway && isSomething;

  useEffect(focusMessage, []);
  const send = (event?: FormEvent): void => {
    event?.preventDefault();
    if (!canSend) return;
    const said = {
      text: text.trim(),
      attachments: ready,
      ...(addressees.length > 0 && { deployments: addressees.map((each) => each.id) }),
    };
    if (running === undefined) say(said);
    else outbox.add(conversationId, said);
    setText('');
    // What is still heard belongs to the message that is sent.
    setDictated(dictated + 1);
    clear();
    address.forget();
  };
  const takeBack = (back: Waiting): void => {
    outbox.take(conversationId, back.id);
    setText([back.text, text].filter((part) => part !== '').join('\n\n'));
    restore(back.attachments);
    if (back.deployments !== undefined) address.restore(back.deployments);
    focusMessage();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isComposing(event.nativeEvent) || chooseKeys(event) || address.addressKeys(event)) return;
    if (event.key === 'ArrowUp' && text === '') {
      const last = waiting.at(-1);
      if (last !== undefined) takeBack(last);
      if (last !== undefined || editLast()) event.preventDefault();
    }
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    send();
  };
  const onPaste = (event: ClipboardEvent): void => {
    const { files } = event.clipboardData;
    if (files.length === 0) return;
    event.preventDefault();
    add(files);
  };
  return (
    <>
      {choice}
      {address.choice}
      {waiting.length > 0 && (
        <Guard instead={null}>
          <Suspense fallback={null}>
            <QueueList {...{ waiting, conversationId, takeBack }} isAnswering={running !== undefined} />
          </Suspense>
        </Guard>
      )}
      <form className="composer" onSubmit={send} onPaste={onPaste}>
        {isOver && (
          <p className="drop-hint">
            <Icon name="clip" />
            {words.dropHere}
          </p>
        )}
        {address.chips}
        <Uploads uploads={uploads} remove={remove} />
        <div className="composer-row">
          <FileChooser types={deployment?.attachmentTypes} add={add} />
          <textarea
            {...{
              id: 'message',
              dir: 'auto',
              rows: 1,
              value: text,
              onKeyDown,
              'aria-label': words.message,
              title: words.sendHint,
            }}
            placeholder={
              deployment && words.messagePlaceholder(toNames(addressees.length > 0 ? addressees : [deployment], language))
            }
            onChange={({ target }) => setText(target.value)}
          />
          {canDictate && (
            <Suspense fallback={null}>
              <DictateButton key={dictated} {...{ text, setText }} />
            </Suspense>
          )}
          {running !== undefined && <StopButton running={running} />}
          {(running === undefined || isSomething) && <SendButton {...{ canSend, isAway }} isLater={running !== undefined} />}
        </div>
      </form>
    </>
  );
}

function FileChooser({
  types,
  add,
}: {
  readonly types: readonly string[] | undefined;
  readonly add: (files: Iterable<File>) => void;
}) {
  const words = useWords();
  const chooser = useRef<HTMLInputElement>(null);
  const name = { 'aria-label': words.attach, title: words.attach };
  return (
    <>
      <button type="button" className="icon-button" {...name} onClick={() => chooser.current?.click()}>
        <Icon name="clip" />
      </button>
      <input
        {...{ ref: chooser, type: 'file', multiple: true, hidden: true, accept: types?.join(',') }}
        aria-label={words.attach}
        onChange={({ target }) => {
          add(target.files ?? []);
          target.value = '';
        }}
      />
    </>
  );
}

function toNames(deployments: readonly Deployment[], language: string): string {
  return new Intl.ListFormat(language).format(deployments.map(({ name }) => name));
}

interface SendButtonProps {
  readonly canSend: boolean;
  readonly isAway: boolean;
  /** What is sent waits for the answer that is coming. */
  readonly isLater: boolean;
}

function SendButton({ canSend, isAway, isLater }: SendButtonProps) {
  const words = useWords();
  const name = isLater ? words.sendLater : words.send;
  return (
    <button
      {...{ type: 'submit', className: 'round primary', 'aria-label': name, disabled: !canSend }}
      title={isAway ? words.sendAway : name}
    >
      <Icon name="send" />
    </button>
  );
}

/** Stops the answer that is coming. */
function StopButton({ running }: { readonly running: string }) {
  const { stop: name } = useWords();
  const { asking } = usePage();
  const stop = (): void => {
    asking.stop(running);
    focusMessage();
  };
  return (
    <button {...{ type: 'button', className: 'round stop', 'aria-label': name, title: name, onClick: stop }}>
      <Icon name="stop" />
    </button>
  );
}

/** Begins to change the last question; false where there is none. */
function editLast(): boolean {
  const last = [...document.querySelectorAll<HTMLElement>('.thread .edit-question')].at(-1);
  last?.click();
  return last !== undefined;
}

function useDraft(draftOf: string | undefined, firstText: string): readonly [string, (text: string) => void] {
  const { user } = usePage();
  const [text, setText] = useState(() => (draftOf === undefined ? firstText : readDraft(user, draftOf)));
  const keep = (next: string): void => {
    setText(next);
    if (draftOf !== undefined) keepDraft(user, draftOf, next);
  };
  return [text, keep];
}

/** The files of the message that is being written, each with how far it has come. */
function Uploads({ uploads, remove }: { readonly uploads: readonly Upload[]; readonly remove: (id: string) => void }) {
  const words = useWords();
  if (uploads.length === 0) return null;
  return (
    <ul className="uploads" aria-label={words.attachments}>
      {uploads.map(({ id, name, share, attachment, fault }) => (
        <li key={id} className={fault === undefined ? 'upload' : 'upload failed'}>
          <Look attachment={attachment} hasFailed={fault !== undefined} />
          <span className="upload-name">{fault === undefined ? name : words.uploadFailed(name, whyOf(fault, words))}</span>
          {attachment === undefined && fault === undefined && (
            <progress value={share} aria-label={words.uploading(name, Math.round(share * 100))} />
          )}
          <button
            type="button"
            className="icon-button"
            aria-label={words.removeAttachment(name)}
            title={words.removeAttachment(name)}
            onClick={() => remove(id)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** A picture as it is; an icon for everything else. */
function Look({ attachment, hasFailed }: { readonly attachment: Attachment | undefined; readonly hasFailed: boolean }) {
  const { type = '', data } = attachment ?? {};
  if (data !== undefined && /^image\/(png|jpe?g|gif|webp|avif)$/.test(type)) {
    return <img className="upload-picture" src={`data:${type};base64,${data}`} alt="" />;
  }
  return <Icon name={hasFailed ? 'alert' : 'file'} />;
}

function whyOf({ status, code, message }: Fault, words: Words): string {
  if (code === fileNotKept) return words.fileNotKept;
  if (status === 404) return words.noFileStore;
  if (status === 413) return words.fileTooLarge;
  return status === 0 ? words.unreachable : message;
}
