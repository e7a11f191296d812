import { useCallback, useEffect, useState } from 'react';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { formatPath, type Path } from '#contract/configuration/issue.ts';
import { readAppDraft, saveAppDraft } from '../chat/composer/drafts.ts';
import { pickDefaultDeployment } from '../chat/deployments/favourites.ts';
import { usePage } from '../page/page.tsx';
import type { Service } from '../service/service.ts';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import {
  createApplication,
  type NamedAccess,
  type OwnApplication,
  quickAppType,
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
  readonly note: string;
}

/** An application with its unsaved changes. */
export interface AppDraft {
  /** Undefined while it loads. */
  readonly entry: JsonObject | undefined;
  /** The stored application. Undefined if it was never saved. */
  readonly stored: OwnApplication | undefined;
  readonly isDirty: boolean;
  /** Whether there are unsaved changes. */
  readonly isTouched: boolean;
  /** Whether the unsaved changes are from an earlier visit of this tab. */
  readonly isRestored: boolean;
  readonly isSaving: boolean;
  /** Why loading or saving failed. */
  readonly error: ErrorDetails | undefined;
  readonly fieldErrors: FieldErrors;
  readonly change: (path: Path, value: unknown) => void;
  readonly replace: (entry: JsonObject) => void;
  /** Resolves with the stored application, or undefined if the service rejected it. `over` overwrites concurrent changes. */
  readonly save: (mode?: 'over') => Promise<OwnApplication | undefined>;
  /** Replaces the draft with the stored application. */
  readonly load: () => Promise<void>;
  /** Called when the access has changed. `etagBefore` is the ETag of the version that was changed. */
  readonly applyAccess: (access: NamedAccess, etagBefore: string) => void;
  /** Forgets the unsaved changes when the user leaves. */
  readonly discard: () => void;
  /** Replaces the draft with an application that is known to be stored. */
  readonly accept: (stored: OwnApplication) => void;
}

const noFieldErrors: FieldErrors = new Map();
const defaultTemperature = 0.5;

/** The draft of an application: the stored one with this ID, or a new one ('') with its initial draft. */
export function useAppDraft(id: string, initialDraft: InitialDraft | undefined): AppDraft {
  const strings = useBuilderStrings();
  const { service, deployments, refresh, user } = usePage();
  const [initialEntry] = useState<JsonObject | undefined>(() => {
    if (id !== '') return undefined;
    return (
      initialDraft?.entry ?? newEntry(pickDefaultDeployment(deployments.filter(({ isApplication }) => !isApplication))?.id ?? '')
    );
  });
  const [newDraft] = useState(() => (id === '' ? parseStoredDraft(readAppDraft(user, ''))?.entry : undefined));
  const [entry, setEntry] = useState(newDraft ?? initialEntry);
  const [stored, setStored] = useState<OwnApplication>();
  const [isRestored, setIsRestored] = useState(newDraft !== undefined);
  const [isSaving, setIsSaving] = useState(false);
  const [error, setError] = useState<ErrorDetails>();
  const [fieldErrors, setFieldErrors] = useState(noFieldErrors);

  const accept = useCallback((now: OwnApplication): void => {
    setStored(now);
    setEntry(now.entry);
    setIsRestored(false);
    setError(undefined);
    setFieldErrors(noFieldErrors);
  }, []);
  const load = useCallback(
    () =>
      readApplication(service, id).then(accept, (error: unknown) => {
        const details = toErrorDetails(error);
        const isForeign = details.status === 403 || details.status === 404;
        setError(isForeign ? { ...details, code: 'application_not_found', message: strings.notYours } : details);
      }),
    [service, id, accept, strings],
  );
  const isKnown = id === '' || stored?.id === id;
  useEffect(() => {
    if (isKnown) return;
    const storedDraft = parseStoredDraft(readAppDraft(user, id));
    void load().then(() => {
      if (storedDraft === undefined) return;
      setError((now) => (now?.code === 'application_not_found' ? { ...now, message: strings.deletedElsewhere } : now));
      // With the ETag of the draft, saving it cannot silently overwrite a later change.
      setStored((now) => now && { ...now, etag: storedDraft.etag });
      setEntry(storedDraft.entry);
      setIsRestored(true);
    });
  }, [isKnown, load, user, id, strings]);

  const change = useCallback((path: Path, value: unknown) => {
    setEntry((now) => withValueAt(now, path, value) as JsonObject);
    setFieldErrors((now) => withoutFieldErrors(now, formatPath(path)));
  }, []);
  const replace = useCallback((next: JsonObject) => {
    setEntry(next);
    setFieldErrors(noFieldErrors);
  }, []);

  const save = async (mode?: 'over'): Promise<OwnApplication | undefined> => {
    if (entry === undefined || isSaving) return undefined;
    setError(undefined);
    setFieldErrors(noFieldErrors);
    if (stored === undefined && !hasName(entry)) {
      setFieldErrors(new Map([['displayName', strings.nameNeeded]]));
      return undefined;
    }
    setIsSaving(true);
    try {
      const now = await (stored === undefined ? createApplication(service, entry) : write(service, entry, { stored, mode }));
      if (id !== now.id) saveAppDraft(user, id, '');
      setStored(now);
      setFieldErrors(now.warnings);
      setEntry((latest) => (latest === entry ? now.entry : latest));
      await refresh().catch(() => undefined);
      return now;
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
  // A draft of an older version keeps its ETag, so that saving it cannot silently overwrite a later change.
  const applyAccess = useCallback(({ etag, roles, people }: NamedAccess, etagBefore: string): void => {
    const access = { roles, users: people.map(({ id: user }) => user) };
    setStored((now) => now && { ...now, access, etag: now.etag === etagBefore ? etag : now.etag });
  }, []);
  const acceptAndRefresh = useCallback(
    (now: OwnApplication): void => {
      accept(now);
      void refresh().catch(() => undefined);
    },
    [accept, refresh],
  );
  return {
    entry,
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

/** Saves changes of a stored application. With `over`, it overwrites concurrent changes, and creates it again if it was deleted. */
async function write(
  service: Service,
  entry: JsonObject,
  { stored, mode }: { readonly stored: OwnApplication; readonly mode: 'over' | undefined },
): Promise<OwnApplication> {
  if (mode === undefined) return saveApplication(service, entry, stored);
  const present = await readApplication(service, stored.id).catch((error: unknown) => {
    if (toErrorDetails(error).status !== 404) throw error;
  });
  return present === undefined ? recreateApplication(service, entry, stored.id) : saveApplication(service, entry, present);
}

function parseStoredDraft(text: string): { readonly etag: string; readonly entry: JsonObject } | undefined {
  const value = text === '' ? undefined : tryParseJson(text);
  return isJsonObject(value) && isJsonObject(value.entry) ? { etag: String(value.etag), entry: value.entry } : undefined;
}

function hasName({ displayName }: JsonObject): boolean {
  return typeof displayName === 'string' && displayName.trim() !== '';
}

function newEntry(model: string): JsonObject {
  return {
    applicationTypeSchemaId: quickAppType(),
    applicationProperties: { instructions: '', model, temperature: defaultTemperature },
  };
}
