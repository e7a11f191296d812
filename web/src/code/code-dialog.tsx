import { type ReactNode, useId, useState } from 'react';
import { CodeBlock } from '../markdown/code-block.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { TextButton } from '../parts/icon.tsx';
import { Segments } from '../parts/segments.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import type { Deployment } from '../service/deployments.ts';
import { usePage } from '../shell/page.tsx';
import { loadKey } from '../shell/visitor.ts';
import { useStrings } from '../strings/strings.tsx';
import { useCodeStrings } from './code-strings.ts';
import { type CreatedKey, OwnKeys, UserKeys } from './own-keys.tsx';
import { addKey, toSnippets } from './snippets.ts';
import '../parts/question-dialog.css';
import './code.css';

interface CodeDialogProps {
  readonly deployment: Deployment;
  readonly close: () => void;
}

/** Instructions for programs that call a deployment: address, name, key, and working snippets. */
export function CodeDialog({ deployment: { id, name }, close }: CodeDialogProps) {
  const strings = { ...useStrings(), ...useCodeStrings() };
  const { dialog, closeDialog } = useModalDialog(close);
  const titleId = useId();
  const address = new URL('.', location.href).href.replace(/\/$/, '');
  const snippets = toSnippets({ address, deployment: id });
  const [selectedName, setSelectedName] = useState(snippets[0]?.name);
  const selected = snippets.find((candidate) => candidate.name === selectedName);
  // Lines are wrapped on a phone, where most of a line would be outside of the window.
  const [isNarrow] = useState(() => matchMedia('(width < 40rem)').matches);
  const ownKey = loadKey()?.key;
  const { keys, quota, isLoading } = useKeyQuota(ownKey);
  const [createdKey, setCreatedKey] = useState<CreatedKey>();
  if (selected === undefined) return null;
  const snippet = createdKey === undefined ? selected : addKey(selected, createdKey.key);
  const options = snippets.map((item) => [item.name, item.name] as const);
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog code-dialog', 'aria-labelledby': titleId, closedby: 'closerequest' }}>
      <h2 id={titleId}>{strings.title(name)}</h2>
      <p className="soft">{strings.intro}</p>
      <dl>
        <Fact name={strings.address} value={`${address}/v1`} copy={strings.copyAddress} />
        <Fact name={strings.model} value={id} copy={strings.copyModel} />
        <Fact name={strings.key}>
          <span className="small">
            {!isLoading && (quota === null ? strings.keyHint : strings.createKeyHint)} {ownKey !== undefined && strings.ownKey}
          </span>
          {ownKey !== undefined && <CopyButton text={() => ownKey} label={strings.copyOwnKey} />}
        </Fact>
      </dl>
      {quota !== null && <OwnKeys {...{ keys, quota, createdKey, setCreatedKey }} />}
      <Segments name={strings.client} value={snippet.name} options={options} onSelect={setSelectedName} />
      <KeyHint file={snippet.file} createdKey={snippet === selected ? createdKey : null} />
      <CodeBlock text={snippet.text} language={snippet.language} isComplete isInitiallyWrapped={isNarrow} />
      <div className="row end">
        <TextButton onClick={closeDialog}>{strings.close}</TextButton>
      </div>
    </dialog>
  );
}

interface KeyHintProps {
  readonly file: string | undefined;
  /** Null if the snippet contains the key. */
  readonly createdKey: CreatedKey | undefined | null;
}

/** Names the file of a snippet, if it has one, and explains how to set the key. */
function KeyHint({ file, createdKey }: KeyHintProps) {
  const strings = useCodeStrings();
  const line = `export KEY=${createdKey?.key ?? '…'}`;
  return (
    <p className="soft small key-hint">
      {file !== undefined && `${strings.inFile(file)} `}
      {createdKey !== null && strings.setKey} {createdKey !== null && <code>{line}</code>}
      {createdKey != null && <CopyButton text={() => line} label={strings.copyExport} />}
    </p>
  );
}

/** Loads the quota for user keys. Null means that the user cannot create keys, for example after a sign-in with a key. */
function useKeyQuota(ownKey: string | undefined) {
  const { service } = usePage();
  const [keys] = useState(() => new UserKeys(service));
  const [load] = useState(() => async () => (ownKey === undefined ? keys.getQuota() : null));
  const { value: quota = null, isLoading } = useLoaded(load);
  return { keys, quota, isLoading };
}

type FactProps = { readonly name: string } & (
  | { readonly value: string; readonly copy: string }
  | { readonly children: ReactNode }
);

/** A value to copy into a program, with a copy button. */
function Fact(props: FactProps) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd>
        {'value' in props ? (
          <>
            <code>{props.value}</code>
            <CopyButton text={() => props.value} label={props.copy} />
          </>
        ) : (
          props.children
        )}
      </dd>
    </div>
  );
}
