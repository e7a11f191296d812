import { useEffect, useRef, useState } from 'react';
import { isJsonObject } from '#base/json.ts';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { readBucket } from '../service/deployments.ts';
import { faultOf } from '../service/fault.ts';
import { fileNameOf } from '../service/file-name.ts';
import { inPath, type Service } from '../service/service.ts';
import { useWords } from '../words/words.tsx';
import { useBuilderWords } from './builder-words.ts';
import { DocumentItem } from './document-item.tsx';
import type { EditorProps } from './form.ts';
import { elementId } from './form.ts';
import { FaultAt, FieldGroup } from './frame.tsx';
import { RemoveButton } from './remove-button.tsx';
import { ToolTest } from './tool-test.tsx';
import { tryTool } from './tool-trial.ts';
import { useDocumentStates } from './use-document-states.ts';

interface Sending {
  readonly id: string;
  readonly name: string;
  /** From 0 to 1. */
  readonly share: number;
  /** Why it was not stored. */
  readonly trouble?: string;
}

/** Documents that answers are looked up in: uploaded here, kept in the files of the user. */
export function DocumentsEditor({ value, path, form, label, isLabelHeard }: EditorProps) {
  const words = useWords();
  const builderWords = useBuilderWords();
  const { service, announce } = usePage();
  const references = toReferences(value);
  const states = useDocumentStates(references.length === 0 ? undefined : form.saved);
  const [sending, setSending] = useState<readonly Sending[]>([]);
  const latest = useRef(references);
  const leaving = useRef(new AbortController());
  const picker = useRef<HTMLInputElement>(null);
  useEffect(() => {
    latest.current = references;
  });
  useEffect(() => {
    leaving.current = new AbortController();
    return () => leaving.current.abort();
  }, []);
  const put = (next: readonly string[]): void => {
    latest.current = next;
    form.change(path, next.length === 0 ? undefined : next);
  };
  const send = async (file: File): Promise<void> => {
    const one: Sending = { id: crypto.randomUUID(), name: file.name, share: 0 };
    const { signal } = leaving.current;
    const tell = (part: Partial<Sending>): void =>
      setSending((now) => now.map((each) => (each.id === one.id ? { ...each, ...part } : each)));
    setSending((now) => [...now, one]);
    try {
      const reference = await storeDocument(service, file, { onProgress: (share) => tell({ share }), signal });
      setSending((now) => now.filter((each) => each.id !== one.id));
      put([...latest.current, reference]);
      announce(builderWords.documentSent(file.name));
    } catch (thrown) {
      tell({ trouble: faultOf(thrown).message || words.unreachable });
    }
  };
  return (
    <FieldGroup {...{ form, path, label, isLabelHeard, className: 'builder-list' }} hint={builderWords.documentsHint}>
      <ul className="builder-chips">
        {references.map((reference, index) => (
          <DocumentItem
            key={reference}
            id={elementId(form, [...path, index])}
            name={fileNameOf(reference)}
            {...{ reference, state: states.get(reference) }}
            remove={() => put(references.filter((each) => each !== reference))}
          >
            <FaultAt {...{ form, path: [...path, index] }} />
          </DocumentItem>
        ))}
        {sending.map((each) => (
          <SendingItem
            key={each.id}
            sending={each}
            forget={() => setSending((now) => now.filter(({ id: other }) => other !== each.id))}
          />
        ))}
      </ul>
      <input
        {...{ ref: picker, type: 'file', multiple: true, hidden: true, 'aria-label': builderWords.uploadDocuments }}
        onChange={({ target }) => {
          for (const file of target.files ?? []) void send(file);
          target.value = '';
        }}
      />
      <button type="button" className="button" onClick={() => picker.current?.click()}>
        <Icon name="clip" />
        {builderWords.uploadDocuments}
      </button>
      {references.length > 0 && <DocumentsTest {...{ references, path, form, label }} />}
    </FieldGroup>
  );
}

/** Looks something up in the documents as they stand in the form, as a model would. */
function DocumentsTest({ references, path, form, label }: Pick<EditorProps, 'path' | 'form' | 'label'> & TestedDocuments) {
  const { trial } = useBuilderWords();
  const { service } = usePage();
  const schema = { type: 'object', properties: { query: { type: 'string', title: trial.question } }, required: ['query'] };
  return (
    <ToolTest
      {...{ name: label, isNameShown: true, isReadOnly: true, schema }}
      run={(args, signal) => {
        const retrieval = form.read([...path.slice(0, -1), 'retrieval']);
        const set = { type: 'documents', document_relative_url: references, ...(isJsonObject(retrieval) && { retrieval }) };
        return tryTool(service, { toolset: set, tool: 'query_document', args, application: form.saved?.id }, signal);
      }}
    />
  );
}

interface TestedDocuments {
  readonly references: readonly string[];
}

function SendingItem({ sending: { name, share, trouble }, forget }: { readonly sending: Sending; readonly forget: () => void }) {
  const builderWords = useBuilderWords();
  if (trouble === undefined) {
    return (
      <li className="upload">
        <span className="upload-name">{name}</span>
        <progress value={share} aria-label={builderWords.documentProgress(name, Math.round(share * 100))} />
      </li>
    );
  }
  return (
    <li className="upload failed">
      <span>{builderWords.documentFailed(name, trouble)}</span>
      <RemoveButton name={name} icon="close" remove={forget} />
    </li>
  );
}

interface StoreOptions {
  readonly onProgress: (share: number) => void;
  readonly signal: AbortSignal;
}

async function storeDocument(service: Service, file: File, options: StoreOptions): Promise<string> {
  const bucket = await readBucket(service);
  const path = `${inPath(bucket)}/documents/${crypto.randomUUID()}/${encodeURIComponent(file.name)}`;
  const stored = await service.upload(`v1/files/${path}`, file, options);
  return isJsonObject(stored) && typeof stored.url === 'string' ? stored.url : `files/${path}`;
}

function toReferences(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
