import { type ReactNode, useId, useState } from 'react';
import { CodeBlock } from '../markdown/code-block.tsx';
import { usePage } from '../page/page.tsx';
import { readKey } from '../page/visitor.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Segments } from '../parts/segments.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { useShownDialog } from '../parts/use-shown-dialog.ts';
import type { Deployment } from '../service/deployments.ts';
import { useWords } from '../words/words.tsx';
import { useCodeWords } from './code-words.ts';
import { type MadeKey, OwnKeys } from './own-keys.tsx';
import { toSnippets, withKey } from './snippets.ts';
import { UserKeys } from './user-keys.ts';
import '../parts/question-dialog.css';
import './code.css';

interface CodeDialogProps {
  readonly deployment: Deployment;
  readonly close: () => void;
}

/** How programs ask a deployment: its address, its name, a key, and snippets that run as they stand. */
export function CodeDialog({ deployment: { id, name }, close }: CodeDialogProps) {
  const words = { ...useWords(), ...useCodeWords() };
  const { dialog, leave } = useShownDialog(close);
  const title = useId();
  const address = new URL('.', location.href).href.replace(/\/$/, '');
  const [first, ...others] = toSnippets({ address, deployment: id });
  const [chosen, setChosen] = useState(first?.name ?? '');
  const found = others.find((snippet) => snippet.name === chosen) ?? first;
  const ownKey = readKey();
  const { keys, right, isKnown } = useKeyRight(ownKey);
  const [made, setMade] = useState<MadeKey>();
  if (first === undefined || found === undefined) return null;
  const shown = made === undefined ? found : withKey(found, made.key);
  const options = [first, ...others].map((snippet) => [snippet.name, snippet.name] as const);
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog code-dialog', 'aria-labelledby': title, closedby: 'closerequest' }}>
      <h2 id={title}>{words.title(name)}</h2>
      <p className="soft">{words.intro}</p>
      <dl>
        <Fact name={words.address} value={`${address}/v1`} copy={words.copyAddress} />
        <Fact name={words.model} value={id} copy={words.copyModel} />
        <Fact name={words.key}>
          <span className="small">
            {isKnown && (right === null ? words.keyHint : words.keyBelow)} {ownKey !== undefined && words.ownKey}
          </span>
          {ownKey !== undefined && <CopyButton text={() => ownKey} label={words.copyOwnKey} />}
        </Fact>
      </dl>
      {right !== null && <OwnKeys {...{ keys, right, made, setMade }} />}
      <Segments name={words.way} value={shown.name} options={options} choose={setChosen} />
      <KeyHint file={shown.file} made={shown === found ? made : null} />
      <CodeBlock text={shown.text} language={shown.language} isWhole />
      <div className="row end">
        <button type="button" className="button" onClick={leave}>
          {words.close}
        </button>
      </div>
    </dialog>
  );
}

/** Where a snippet goes, and where its key comes from; `made` is null if the snippet has the key. */
function KeyHint({ file, made }: { readonly file: string | undefined; readonly made: MadeKey | undefined | null }) {
  const words = useCodeWords();
  const line = `export KEY=${made?.key ?? '…'}`;
  return (
    <p className="soft small key-hint">
      {file !== undefined && `${words.inFile(file)} `}
      {made !== null && words.setKey} {made !== null && <code>{line}</code>}
      {made != null && <CopyButton text={() => line} label={words.copyExport} />}
    </p>
  );
}

/** What the user may make of keys; null if nothing. Who is here with a key is not asked for. */
function useKeyRight(ownKey: string | undefined) {
  const { service } = usePage();
  const [keys] = useState(() => new UserKeys(service));
  const [load] = useState(() => async () => (ownKey === undefined ? keys.right() : null));
  const { value: right = null, isLoading } = useLoaded(load);
  return { keys, right, isKnown: !isLoading };
}

type FactProps = { readonly name: string } & (
  | { readonly value: string; readonly copy: string }
  | { readonly children: ReactNode }
);

/** Something that a program is told, and a button to take it along. */
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
