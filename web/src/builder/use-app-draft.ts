import { useCallback, useEffect, useState } from 'react';
import type { JsonObject } from '#base/json/json.ts';
import { formatPath, type Path } from '#contract/configuration/fault.ts';
import { usePage } from '../page/page.tsx';
import { type Fault, faultOf } from '../service/fault.ts';
import { createApplication, type OwnApplication, quickAppType, readApplication, saveApplication } from './applications.ts';
import type { Beginning } from './beginning.ts';
import { withValueAt } from './draft.ts';
import { type FieldFaults, toFieldFaults } from './editors/field-faults.ts';
import { useBuilderWords } from './words/builder-words.ts';

/** An application as it is being changed. */
export interface AppDraft {
  /** Undefined as long as it is being loaded. */
  readonly entry: JsonObject | undefined;
  /** As it is stored; undefined for one that was never saved. */
  readonly stored: OwnApplication | undefined;
  readonly isDirty: boolean;
  /** Whether something would be lost. */
  readonly isTouched: boolean;
  readonly isSaving: boolean;
  /** Why it was not loaded, or not saved. */
  readonly fault: Fault | undefined;
  readonly faults: FieldFaults;
  readonly change: (path: Path, value: unknown) => void;
  readonly replace: (entry: JsonObject) => void;
  /** Gives what is stored now; undefined where it was refused. `over`: whatever was stored meanwhile. */
  readonly save: (over?: 'over') => Promise<OwnApplication | undefined>;
  /** Puts what is stored in the place of the draft. */
  readonly load: () => Promise<void>;
  /** The same with what is known to be stored now. */
  readonly take: (stored: OwnApplication) => void;
}

const noFaults: FieldFaults = new Map();
const firstTemperature = 0.5;

/** The draft of an application: what is stored under an id, or a new one ('') with its beginning. */
export function useAppDraft(id: string, beginning: Beginning | undefined): AppDraft {
  const words = useBuilderWords();
  const { service, deployments, refresh } = usePage();
  const [entry, setEntry] = useState<JsonObject | undefined>(() => {
    if (id !== '') return undefined;
    return beginning?.entry ?? newEntry(deployments.find(({ isApplication }) => !isApplication)?.id ?? '');
  });
  const [begun] = useState(entry);
  const [stored, setStored] = useState<OwnApplication>();
  const [isSaving, setIsSaving] = useState(false);
  const [fault, setFault] = useState<Fault>();
  const [faults, setFaults] = useState(noFaults);

  const take = useCallback((now: OwnApplication): void => {
    setStored(now);
    setEntry(now.entry);
    setFault(undefined);
    setFaults(noFaults);
  }, []);
  const load = useCallback(
    () => readApplication(service, id).then(take, (thrown: unknown) => setFault(faultOf(thrown))),
    [service, id, take],
  );
  const isKnown = id === '' || stored?.id === id;
  useEffect(() => {
    if (!isKnown) void load();
  }, [isKnown, load]);

  const change = useCallback((path: Path, value: unknown) => {
    setEntry((now) => withValueAt(now, path, value) as JsonObject);
    setFaults((now) => withoutBelow(now, formatPath(path)));
  }, []);
  const replace = useCallback((next: JsonObject) => {
    setEntry(next);
    setFaults(noFaults);
  }, []);

  const save = async (over?: 'over'): Promise<OwnApplication | undefined> => {
    if (entry === undefined || isSaving) return undefined;
    setFault(undefined);
    setFaults(noFaults);
    if (stored === undefined && !hasName(entry)) {
      setFaults(new Map([['displayName', words.nameNeeded]]));
      return undefined;
    }
    setIsSaving(true);
    try {
      const before = over === undefined || stored === undefined ? stored : await readApplication(service, stored.id);
      const now = await (before === undefined ? createApplication(service, entry) : saveApplication(service, entry, before));
      setStored(now);
      setFaults(now.warnings);
      setEntry((latest) => (latest === entry ? now.entry : latest));
      await refresh().catch(() => undefined);
      return now;
    } catch (thrown) {
      const why = faultOf(thrown);
      setFault(why);
      if (why.status === 400) setFaults(toFieldFaults(why.message, why.param));
      return undefined;
    } finally {
      setIsSaving(false);
    }
  };
  const isDirty = entry !== undefined && entry !== stored?.entry;
  const isTouched = isDirty && (stored !== undefined || entry !== begun);
  const takeNow = useCallback(
    (now: OwnApplication): void => {
      take(now);
      void refresh().catch(() => undefined);
    },
    [take, refresh],
  );
  return { entry, stored, isDirty, isTouched, isSaving, fault, faults, change, replace, save, load, take: takeNow };
}

function hasName({ displayName }: JsonObject): boolean {
  return typeof displayName === 'string' && displayName.trim() !== '';
}

function newEntry(model: string): JsonObject {
  return {
    applicationTypeSchemaId: quickAppType(),
    applicationProperties: { instructions: '', model, temperature: firstTemperature },
  };
}

function withoutBelow(faults: FieldFaults, path: string): FieldFaults {
  const isBelow = (at: string): boolean => at === path || at.startsWith(`${path}.`) || at.startsWith(`${path}[`);
  return [...faults.keys()].some(isBelow) ? new Map([...faults].filter(([at]) => !isBelow(at))) : faults;
}
