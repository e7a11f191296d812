import { useCallback, useEffect, useState } from 'react';
import { isJsonObject, type JsonObject, toText, tryParseJson } from '#base/json/json.ts';
import { formatPath, type Path } from '#contract/configuration/issue.ts';
import { readAppDraft, saveAppDraft } from '../chat/composer/drafts.ts';
import { pickDefaultDeployment } from '../chat/deployments/favorites.ts';
import type { Service } from '../service/service.ts';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { usePage } from '../shell/page.tsx';
import {
  createApplication,
  getQuickAppType,
  type NamedAccess,
  type OwnApplication,
  readApplication,
  recreateApplication,
  saveApplication,
} from './applications.ts';
import { useBuilderStrings } from './builder-strings.ts';
import { type FieldErrors, toFieldErrors, withoutFieldErrors } from './editors/form.ts';
import { withValueAt } from './entry-parts.ts';

/** Initial content of a new application. */
export interface InitialDraft {
  readonly entry: JsonObject;
  /** Notice for the user, or ''. */
  readonly note: string;
}

/** An application with its unsaved changes. */
export interface AppDraft {
  /** Undefined while it loads. */
  readonly entry: JsonObject | undefined;
  /** Changes when a stored application replaces the draft, so that editors with local state must start again. */
  readonly revision: number;
  /** The stored application. Undefined if it was never saved. */
  readonly stored: OwnApplication | undefined;
  /** Whether the entry differs from the stored one. Always true for an application that was never saved. */
  readonly isDirty: boolean;
  /** Whether the user has made changes that are not saved. */
  readonly isTouched: boolean;
  /** Whether the unsaved changes are from an earlier visit in this tab. */
  readonly isRestored: boolean;
  readonly isSaving: boolean;
  /** Why loading or saving failed. */
  readonly error: ErrorDetails | undefined;
  readonly fieldErrors: FieldErrors;
  readonly change: (path: Path, value: unknown) => void;
  readonly replace: (entry: JsonObject) => void;
  /** Resolves with the stored application, or undefined if it could not be saved. `overwrite` replaces concurrent changes. */
  readonly save: (mode?: 'overwrite') => Promise<OwnApplication | undefined>;
  /** Loads the stored application and replaces the draft with it. */
  readonly load: () => void;
  /** Applies a change of the access. `etagBefore` is the ETag of the application before the change. */
  readonly applyAccess: (access: NamedAccess, etagBefore: string) => void;
  /** Deletes the unsaved changes that this tab stores. */
  readonly discard: () => void;
  /** Replaces the draft with this stored application. */
  readonly accept: (stored: OwnApplication) => void;
}

const noFieldErrors: FieldErrors = new Map();
const defaultTemperature = 0.5;

/** Returns the draft of the stored application with this ID, or of a new application if the ID is ''. */
export function useAppDraft(id: string, initialDraft: InitialDraft | undefined): AppDraft {
  const strings = useBuilderStrings();
  const { service, deployments, refresh, user } = usePage();
  const [initialEntry] = useState<JsonObject | undefined>(() => {
    if (id !== '') return undefined;
    return (
      initialDraft?.entry ??
      createEntry(pickDefaultDeployment(deployments.filter(({ isApplication }) => !isApplication))?.id ?? '')
    );
  });
  const [newDraft] = useState(() => (id === '' ? parseStoredDraft(readAppDraft(user, ''))?.entry : undefined));
  const [entry, setEntry] = useState(newDraft ?? initialEntry);
  const [revision, setRevision] = useState(0);
  const [stored, setStored] = useState<OwnApplication>();
  const [isRestored, setIsRestored] = useState(newDraft !== undefined);
  const [isSaving, setIsSaving] = useState(false);
  const [error, setError] = useState<ErrorDetails>();
  const [fieldErrors, setFieldErrors] = useState(noFieldErrors);

  const accept = useCallback((application: OwnApplication): void => {
    setStored(application);
    setEntry(application.entry);
    setRevision((current) => current + 1);
    setIsRestored(false);
    setError(undefined);
    setFieldErrors(noFieldErrors);
  }, []);
  const load = useCallback(
    () =>
      readApplication(service, id).then(accept, (error: unknown) => {
        const details = toErrorDetails(error);
        const isMissing = details.status === 403 || details.status === 404;
        setError(isMissing ? { ...details, code: 'application_not_found', message: strings.notYours } : details);
        return isMissing ? undefined : details;
      }),
    [service, id, accept, strings],
  );
  const shouldLoad = id !== '' && stored?.id !== id;
  useEffect(() => {
    if (!shouldLoad) return;
    const storedDraft = parseStoredDraft(readAppDraft(user, id));
    void load().then((loadError) => {
      // If loading failed, the stored draft is not shown, because saving it would create another application.
      if (storedDraft === undefined || loadError !== undefined) return;
      setError((current) => current && { ...current, message: strings.deletedElsewhere });
      // With the ETag of the draft, saving it cannot silently overwrite a later change.
      setStored((current) => current && { ...current, etag: storedDraft.etag });
      setEntry(storedDraft.entry);
      setIsRestored(true);
    });
  }, [shouldLoad, load, user, id, strings]);

  const change = useCallback((path: Path, value: unknown) => {
    setEntry((current) => withValueAt(current, path, value) as JsonObject);
    setFieldErrors((current) => withoutFieldErrors(current, formatPath(path)));
  }, []);
  const replace = useCallback((next: JsonObject) => {
    setEntry(next);
    setFieldErrors(noFieldErrors);
  }, []);

  const save = async (mode?: 'overwrite'): Promise<OwnApplication | undefined> => {
    if (entry === undefined || isSaving) return undefined;
    setError(undefined);
    setFieldErrors(noFieldErrors);
    if (stored === undefined && toText(entry.displayName).trim() === '') {
      setFieldErrors(new Map([['displayName', strings.nameNeeded]]));
      return undefined;
    }
    setIsSaving(true);
    try {
      const saved = await (stored === undefined
        ? createApplication(service, entry)
        : saveChanges(service, entry, { stored, mode }));
      if (id !== saved.id) saveAppDraft(user, id, '');
      setStored(saved);
      setFieldErrors(saved.warnings);
      setEntry((latest) => (latest === entry ? saved.entry : latest));
      await refresh().catch(() => undefined);
      return saved;
    } catch (error) {
      const details = toErrorDetails(error);
      setError(details);
      if (details.status === 400) setFieldErrors(toFieldErrors(details.message, details.param));
      return undefined;
    } finally {
      setIsSaving(false);
    }
  };
  const isDirty = entry !== undefined && entry !== stored?.entry;
  const isTouched = isDirty && (stored !== undefined || entry !== initialEntry);
  const draftId = stored?.id ?? id;
  const draftText = isTouched ? JSON.stringify({ etag: stored?.etag, entry }) : '';
  const isLoaded = entry !== undefined;
  useEffect(() => {
    if (isLoaded) saveAppDraft(user, draftId, draftText);
  }, [isLoaded, user, draftId, draftText]);
  // A draft of an older version keeps its older ETag, so that saving it cannot silently overwrite a later change.
  const applyAccess = useCallback(({ etag, roles, people }: NamedAccess, etagBefore: string): void => {
    const access = { roles, users: people.map(({ id: user }) => user) };
    setStored((current) => current && { ...current, access, etag: current.etag === etagBefore ? etag : current.etag });
  }, []);
  const acceptAndRefresh = useCallback(
    (application: OwnApplication): void => {
      accept(application);
      void refresh().catch(() => undefined);
    },
    [accept, refresh],
  );
  return {
    entry,
    revision,
    stored,
    isDirty,
    isTouched,
    isRestored,
    isSaving,
    error,
    fieldErrors,
    change,
    replace,
    save,
    load,
    applyAccess,
    discard: () => saveAppDraft(user, id, ''),
    accept: acceptAndRefresh,
  };
}

/** Saves changes of a stored application. `overwrite` replaces concurrent changes, and recreates a deleted application. */
async function saveChanges(
  service: Service,
  entry: JsonObject,
  { stored, mode }: { readonly stored: OwnApplication; readonly mode: 'overwrite' | undefined },
): Promise<OwnApplication> {
  if (mode === undefined) return saveApplication(service, entry, stored);
  const current = await readApplication(service, stored.id).catch((error: unknown) => {
    if (toErrorDetails(error).status !== 404) throw error;
  });
  return current === undefined ? recreateApplication(service, entry, stored.id) : saveApplication(service, entry, current);
}

function parseStoredDraft(text: string): { readonly etag: string; readonly entry: JsonObject } | undefined {
  const value = text === '' ? undefined : tryParseJson(text);
  return isJsonObject(value) && isJsonObject(value.entry) ? { etag: String(value.etag), entry: value.entry } : undefined;
}

function createEntry(model: string): JsonObject {
  return {
    applicationTypeSchemaId: getQuickAppType(),
    applicationProperties: { instructions: '', model, temperature: defaultTemperature },
  };
}
