import { type ReactNode, useEffect, useRef, useState } from 'react';
import { filterObjects, filterStrings, isJsonObject, type JsonObject, toObject, toText } from '#base/json/json.ts';
import { usePage } from '../../page/page.tsx';
import { Icon } from '../../parts/icon.tsx';
import { readBucket } from '../../service/deployments.ts';
import { encodePath, type Service } from '../../service/service.ts';
import { toErrorDetails } from '../../service/service-error.ts';
import { getFileName } from '../../service/service-path.ts';
import { useStrings } from '../../strings/strings.tsx';
import { useBuilderStrings } from '../builder-strings.ts';
import { type EditorProps, type SavedApplication, toElementId } from './form.ts';
import { FieldError, FieldGroup } from './frame.tsx';
import { RemoveButton } from './list-items.tsx';
import { ToolTest, tryTool } from './tool-test.tsx';
import './editors.css';

/** A document that is being uploaded, or whose upload failed. */
interface PendingUpload {
  readonly id: string;
  readonly name: string;
  /** Fraction from 0 to 1. */
  readonly share: number;
  /** Why the upload failed. */
  readonly problem?: string;
}

/** Documents for search, uploaded here into the user's files. */
export function DocumentsEditor({ value, path, form, label, isLabelHidden }: EditorProps) {
  const strings = useStrings();
  const builderStrings = useBuilderStrings();
  const { service, announce } = usePage();
  const references = toReferences(value);
  const states = useDocumentStates(references.length === 0 ? undefined : form.saved);
  const [uploads, setUploads] = useState<readonly PendingUpload[]>([]);
  const latest = useRef(references);
  const controller = useRef(new AbortController());
  const picker = useRef<HTMLInputElement>(null);
  useEffect(() => {
    latest.current = references;
  });
  useEffect(() => {
    controller.current = new AbortController();
    return () => controller.current.abort();
  }, []);
  const update = (next: readonly string[]): void => {
    latest.current = next;
    form.change(path, next.length === 0 ? undefined : next);
  };
  const send = async (file: File): Promise<void> => {
    const upload: PendingUpload = { id: crypto.randomUUID(), name: file.name, share: 0 };
    const { signal } = controller.current;
    const updateUpload = (part: Partial<PendingUpload>): void =>
      setUploads((now) => now.map((item) => (item.id === upload.id ? { ...item, ...part } : item)));
    setUploads((now) => [...now, upload]);
    try {
      const reference = await storeDocument(service, file, { onProgress: (share) => updateUpload({ share }), signal });
      setUploads((now) => now.filter((item) => item.id !== upload.id));
      update([...latest.current, reference]);
      announce(builderStrings.documentSent(file.name));
    } catch (error) {
      updateUpload({ problem: toErrorDetails(error).message || strings.unreachable });
    }
  };
  return (
    <FieldGroup {...{ form, path, label, isLabelHidden, className: 'builder-list' }} hint={builderStrings.documentsHint}>
      <ul className="builder-chips">
        {references.map((reference, index) => (
          <DocumentItem
            key={reference}
            id={toElementId(form, [...path, index])}
            name={getFileName(reference)}
            {...{ reference, state: states.get(reference) }}
            remove={() => update(references.filter((item) => item !== reference))}
          >
            <FieldError {...{ form, path: [...path, index] }} />
          </DocumentItem>
        ))}
        {uploads.map((upload) => (
          <UploadItem
            key={upload.id}
            upload={upload}
            dismiss={() => setUploads((now) => now.filter(({ id }) => id !== upload.id))}
          />
        ))}
      </ul>
      <input
        {...{ ref: picker, type: 'file', multiple: true, hidden: true, 'aria-label': builderStrings.uploadDocuments }}
        onChange={({ target }) => {
          for (const file of target.files ?? []) void send(file);
          target.value = '';
        }}
      />
      <button type="button" className="button" onClick={() => picker.current?.click()}>
        <Icon name="clip" />
        {builderStrings.uploadDocuments}
      </button>
      {references.length > 0 && <DocumentsTest {...{ references, path, form, label }} />}
    </FieldGroup>
  );
}

/** Searches the documents in the form as a model would. */
function DocumentsTest({ references, path, form, label }: Pick<EditorProps, 'path' | 'form' | 'label'> & TestedDocuments) {
  const { toolTest: strings } = useBuilderStrings();
  const { service } = usePage();
  const schema = { type: 'object', properties: { query: { type: 'string', title: strings.question } }, required: ['query'] };
  return (
    <ToolTest
      {...{ name: label, shouldShowName: true, isReadOnly: true, schema }}
      run={(args, signal) => {
        const retrieval = form.getValue([...path.slice(0, -1), 'retrieval']);
        const toolset = { type: 'documents', document_relative_url: references, ...(isJsonObject(retrieval) && { retrieval }) };
        return tryTool(service, { toolset, tool: 'query_document', args, application: form.saved?.id }, signal);
      }}
    />
  );
}

interface TestedDocuments {
  readonly references: readonly string[];
}

function UploadItem({
  upload: { name, share, problem },
  dismiss,
}: {
  readonly upload: PendingUpload;
  readonly dismiss: () => void;
}) {
  const builderStrings = useBuilderStrings();
  if (problem === undefined) {
    return (
      <li className="upload">
        <span className="upload-name">{name}</span>
        <progress value={share} aria-label={builderStrings.documentProgress(name, Math.round(share * 100))} />
      </li>
    );
  }
  return (
    <li className="upload failed">
      <span>{builderStrings.documentFailed(name, problem)}</span>
      <RemoveButton name={name} icon="close" remove={dismiss} />
    </li>
  );
}

interface StoreOptions {
  readonly onProgress: (share: number) => void;
  readonly signal: AbortSignal;
}

async function storeDocument(service: Service, file: File, options: StoreOptions): Promise<string> {
  const bucket = await readBucket(service);
  const path = `${encodePath(bucket)}/documents/${crypto.randomUUID()}/${encodeURIComponent(file.name)}`;
  const stored = await service.upload(`v1/files/${path}`, file, options);
  return isJsonObject(stored) && typeof stored.url === 'string' ? stored.url : `files/${path}`;
}

function toReferences(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return filterStrings(value);
}

interface DocumentItemProps {
  readonly id: string;
  readonly name: string;
  readonly reference: string;
  /** Undefined until the document is saved. */
  readonly state: DocumentState | undefined;
  readonly remove: () => void;
  readonly children: ReactNode;
}

/** A document of the application with its indexing progress. */
function DocumentItem({ id, name, reference, state, remove, children }: DocumentItemProps) {
  const hasFailed = state?.state === 'failed';
  return (
    <li className={hasFailed ? 'upload document failed' : 'upload document'} id={id}>
      <Icon name="file" />
      <span className="upload-name" title={reference}>
        {name}
      </span>
      {state !== undefined && <StateLine {...{ name, state }} />}
      <RemoveButton {...{ name, remove }} icon="close" />
      {children}
    </li>
  );
}

function StateLine({ name, state: { state, reason, done, total } }: { readonly name: string; readonly state: DocumentState }) {
  const strings = useBuilderStrings();
  const isCounted = state === 'indexing' && total !== undefined;
  return (
    <>
      {isCounted && <progress value={done} max={total} aria-label={strings.documentRead(name, done, total)} />}
      <span className="document-state soft" aria-hidden={isCounted}>
        {isCounted ? strings.passagesRead(done, total) : [strings.documentStates[state], reason].filter(Boolean).join(' · ')}
      </span>
    </>
  );
}

const pollIntervalMs = 1500;
const noStates: DocumentStates = new Map();

/** Returns the indexing state of the saved documents. Polls while indexing is in progress. */
function useDocumentStates(saved: SavedApplication | undefined): DocumentStates {
  const { service, announce } = usePage();
  const { documentsRead } = useBuilderStrings();
  const [states, setStates] = useState(noStates);
  const [id, etag] = [saved?.id, saved?.etag];
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new etag means a changed application
  useEffect(() => {
    if (id === undefined) return undefined;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wasInProgress = false;
    const poll = async (): Promise<void> => {
      const now = await readDocumentStates(service, id, controller.signal);
      if (controller.signal.aborted) return;
      setStates(now);
      const isDone = ![...now.values()].some(isInProgress);
      if (isDone && wasInProgress) announce(documentsRead);
      wasInProgress = !isDone;
      // A failed request is ignored, because answers do not depend on this state.
      if (!isDone) timer = setTimeout(() => void poll().catch(() => undefined), pollIntervalMs);
    };
    void poll().catch(() => undefined);
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [service, announce, documentsRead, id, etag]);
  return states;
}

/** Indexing progress of a document. */
interface DocumentState {
  readonly state: 'waiting' | 'indexing' | 'ready' | 'failed';
  /** Reason that indexing failed, or the part that could not be read. '' if there are no problems. */
  readonly reason: string;
  /** Number of indexed passages. */
  readonly done: number;
  /** Undefined until the document was read. */
  readonly total: number | undefined;
}

/** Indexing progress by reference of the document. */
type DocumentStates = ReadonlyMap<string, DocumentState>;

const stateNames = new Set(['waiting', 'indexing', 'ready', 'failed']);

/** Loads the indexing state of the user's own application. Throws `ServiceError`. */
async function readDocumentStates(service: Service, id: string, signal: AbortSignal): Promise<DocumentStates> {
  const answer = await service.json(`v1/deployments/${encodePath(id)}/documents`, { signal });
  const items = filterObjects(toObject(answer).data);
  return new Map(items.flatMap(toStateEntry));
}

function isInProgress({ state }: DocumentState): boolean {
  return state === 'waiting' || state === 'indexing';
}

function toStateEntry({ reference, state, reason, passages }: JsonObject): [string, DocumentState][] {
  if (typeof reference !== 'string' || typeof state !== 'string' || !stateNames.has(state)) return [];
  const { done, total } = toObject(passages);
  const documentState: DocumentState = {
    state: state as DocumentState['state'],
    reason: toText(reason),
    done: typeof done === 'number' ? done : 0,
    total: typeof total === 'number' ? total : undefined,
  };
  return [[reference, documentState]];
}
