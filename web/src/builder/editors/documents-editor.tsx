import { type ReactNode, useEffect, useState } from 'react';
import { filterObjects, filterStrings, isJsonObject, type JsonObject, toObject, toText } from '#base/json/json.ts';
import { looksUnreadable } from '#contract/quick-app/unreadable-document.ts';
import { UploadList, useFileUploads } from '../../files/file-uploads.tsx';
import { StoredFileButton } from '../../files/stored-file-button.tsx';
import { StoredFiles, type StoredItem } from '../../files/stored-files.ts';
import { FileButton } from '../../parts/device-files.tsx';
import { Icon } from '../../parts/icon.tsx';
import { encodePath, type Service } from '../../service/service.ts';
import { getFileName } from '../../service/service-path.ts';
import { usePage } from '../../shell/page.tsx';
import { useBuilderStrings } from '../builder-strings.ts';
import { type EditorProps, type StoredApplication, toElementId } from './form.ts';
import { FieldError, FieldGroup } from './frame.tsx';
import { RemoveButton } from './list-items.tsx';
import { runTool, ToolTest } from './tool-test.tsx';
import './editors.css';

/** Documents for search. The user uploads them to their files, or selects stored files. */
export function DocumentsEditor({ value, path, form, label, isLabelHidden }: EditorProps) {
  const builderStrings = useBuilderStrings();
  const { service, announce } = usePage();
  const references = toReferences(value);
  const states = useDocumentStates(references.length === 0 ? undefined : form.stored);
  const [files] = useState(() => new StoredFiles(service));
  const update = (next: readonly string[]): void => form.change(path, next.length === 0 ? undefined : next);
  const append = (added: readonly string[]): void => update([...toReferences(form.getValue(path)), ...added]);
  const { uploads, add, remove } = useFileUploads({
    files,
    toPath: (name) => `documents/${crypto.randomUUID()}/${name}`,
    onStored: (name, reference) => {
      append([reference]);
      announce(builderStrings.documentSent(name));
    },
  });
  const findRejection = ({ name, reference, type }: StoredItem): string | undefined => {
    if (references.includes(reference)) return builderStrings.alreadyAdded;
    return looksUnreadable(name, type) ? builderStrings.notSearchable : undefined;
  };
  const addStored = (items: readonly StoredItem[]): void => {
    append(items.map(({ reference }) => reference));
    announce(builderStrings.documentsAdded(items.length));
  };
  return (
    <FieldGroup {...{ form, path, label, isLabelHidden, className: 'builder-list' }} hint={builderStrings.documentsHint}>
      <ul className="builder-chips">
        {references.map((reference, index) => (
          <DocumentItem
            key={reference}
            id={toElementId(form, [...path, index])}
            {...{ reference, state: states.get(reference) }}
            remove={() => update(references.filter((item) => item !== reference))}
          >
            <FieldError {...{ form, path: [...path, index] }} />
          </DocumentItem>
        ))}
      </ul>
      <UploadList {...{ uploads, remove }} />
      <div className="row">
        <FileButton label={builderStrings.uploadDocuments} icon="clip" isMultiple onFile={(file) => add([file])} />
        <StoredFileButton {...{ className: 'button', select: addStored, findRejection }} />
      </div>
      {references.length > 0 && <DocumentsTest {...{ value, path, form, label }} />}
    </FieldGroup>
  );
}

/** Searches the documents in the form as a model would. */
function DocumentsTest({ value, path, form, label }: Pick<EditorProps, 'value' | 'path' | 'form' | 'label'>) {
  const { toolTest: strings } = useBuilderStrings();
  const { service } = usePage();
  const schema = { type: 'object', properties: { query: { type: 'string', title: strings.question } }, required: ['query'] };
  return (
    <ToolTest
      {...{ name: label, shouldShowName: true, isReadOnly: true, schema }}
      run={(args, signal) => {
        const retrieval = form.getValue([...path.slice(0, -1), 'retrieval']);
        const toolset = {
          type: 'documents',
          document_relative_url: toReferences(value),
          ...(isJsonObject(retrieval) && { retrieval }),
        };
        return runTool(service, { toolset, tool: 'query_document', args, application: form.stored?.id }, signal);
      }}
    />
  );
}

function toReferences(value: unknown): readonly string[] {
  return filterStrings([value].flat());
}

interface DocumentItemProps {
  readonly id: string;
  readonly reference: string;
  /** Undefined until the document is stored with the application. */
  readonly state: DocumentState | undefined;
  readonly remove: () => void;
  readonly children: ReactNode;
}

/** A document of the application with its indexing progress. */
function DocumentItem({ id, reference, state, remove, children }: DocumentItemProps) {
  const name = getFileName(reference);
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

/** Returns the indexing state of the stored documents. Polls while indexing is in progress. */
function useDocumentStates(stored: StoredApplication | undefined): DocumentStates {
  const { service, announce } = usePage();
  const { documentsRead } = useBuilderStrings();
  const [states, setStates] = useState(noStates);
  const [id, etag] = [stored?.id, stored?.etag];
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new etag means a changed application
  useEffect(() => {
    if (id === undefined) return undefined;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isInProgress = false;
    const poll = async (): Promise<void> => {
      // A failed request is not reported, because answers do not depend on this state.
      const latest = await readDocumentStates(service, id, controller.signal).catch(() => undefined);
      if (controller.signal.aborted) return;
      if (latest !== undefined) {
        const wasInProgress = isInProgress;
        setStates(latest);
        isInProgress = [...latest.values()].some(({ state }) => state === 'waiting' || state === 'indexing');
        if (wasInProgress && !isInProgress) announce(documentsRead);
      }
      if (isInProgress) timer = setTimeout(() => void poll(), pollIntervalMs);
    };
    void poll();
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
