import { useCallback, useEffect, useId, useMemo, useState } from 'react';
import type { JsonObject } from '#base/json/json.ts';
import { ErrorMessage } from '../../parts/error-message.tsx';
import { QuestionDialog } from '../../parts/question-dialog.tsx';
import { useAction, useLoaded } from '../../parts/use-loaded.ts';
import { usePage } from '../../shell/page.tsx';
import { formatDateTime } from '../../strings/formats.ts';
import { useLanguage } from '../../strings/strings.tsx';
import { listVersions, type OwnApplication, readVersion, restoreVersion, type Version } from '../applications.ts';
import { useBuilderStrings } from '../builder-strings.ts';
import { VersionResult } from '../evaluation/evaluation-list.tsx';
import type { EvaluationState } from '../evaluation/use-evaluations.ts';
import { type NamedVersion, VersionDiff } from './version-diff.tsx';
import './versions.css';

interface VersionsSectionProps {
  readonly stored: OwnApplication;
  /** Schema of a complete application. */
  readonly schema: JsonObject;
  readonly evaluationState: EvaluationState;
  /** Called with the application after a version is restored. */
  readonly onRestored: (restored: OwnApplication) => void;
}

/** Versions of the application in a section that starts collapsed. */
export function VersionsSection(props: VersionsSectionProps) {
  const strings = useBuilderStrings();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details className="builder-disclosure" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{strings.versions}</summary>
      {isOpen && <VersionList {...props} />}
    </details>
  );
}

const noVersions: readonly Version[] = [];

/** Returns a function that loads each version once, because versions never change. After a failure, the next call loads again. */
function useReadEntry(id: string): VersionItemProps['readEntry'] {
  const { service } = usePage();
  return useMemo(() => {
    const entries = new Map<number, Promise<JsonObject>>();
    return (version) => {
      const entry = entries.get(version) ?? readVersion(service, id, version);
      entries.set(version, entry);
      entry.catch(() => entries.delete(version));
      return entry;
    };
  }, [service, id]);
}

function VersionList({ stored, schema, evaluationState, onRestored }: VersionsSectionProps) {
  const strings = useBuilderStrings();
  const { locale } = useLanguage();
  const { service, announce } = usePage();
  const { id, etag } = stored;
  const { requestLoad } = evaluationState;
  useEffect(requestLoad, [requestLoad]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change creates another version
  const load = useCallback(() => listVersions(service, id), [service, id, etag]);
  const { value: versions = noVersions, error, isLoading } = useLoaded(load);
  const [selectedVersion, setSelectedVersion] = useState<Version>();
  const { error: restoreError, run } = useAction();
  const readEntry = useReadEntry(id);
  const formatName = ({ savedAtMs }: Version): string => formatDateTime(savedAtMs, locale);
  const namedVersions = useMemo(
    () =>
      versions.map(({ version, savedAtMs }, index) => ({
        version,
        name: index === 0 ? strings.currentVersion : `${strings.versionNumber(version)}, ${formatDateTime(savedAtMs, locale)}`,
      })),
    [versions, strings, locale],
  );
  const restore = async (version: Version): Promise<void> => {
    onRestored(await restoreVersion(service, stored, version.version));
    announce(strings.restored(formatName(version)));
  };
  return (
    <div className="builder-disclosure-body" aria-busy={isLoading}>
      <p className="soft small">{strings.versionsHint}</p>
      <ErrorMessage error={restoreError ?? error} />
      <ol className="versions" aria-label={strings.versions}>
        {versions.map((version) => (
          <VersionItem
            key={version.version}
            {...{ version, stored, schema, evaluationState, readEntry, name: formatName(version), namedVersions }}
            onRestore={() => setSelectedVersion(version)}
          />
        ))}
      </ol>
      {selectedVersion !== undefined && (
        <QuestionDialog
          question={strings.restoreQuestion(formatName(selectedVersion))}
          confirmLabel={strings.restore}
          onConfirm={() => void run(() => restore(selectedVersion))}
          onClose={() => setSelectedVersion(undefined)}
        />
      )}
    </div>
  );
}

interface VersionItemProps extends Omit<VersionsSectionProps, 'onRestored'> {
  readonly version: Version;
  readonly name: string;
  /** All versions, the newest first. */
  readonly namedVersions: readonly NamedVersion[];
  readonly readEntry: (version: number) => Promise<JsonObject>;
  readonly onRestore: () => void;
}

function VersionItem(props: VersionItemProps) {
  const { name, namedVersions, evaluationState, onRestore } = props;
  const { version } = props.version;
  const isCurrent = version === namedVersions[0]?.version;
  const strings = useBuilderStrings();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <li className="version">
      <div className="row">
        <p className="row version-name">
          <span>{name}</span>
          <span className="soft small">{isCurrent ? strings.currentVersion : strings.versionNumber(version)}</span>
          <VersionResult {...{ evaluationState, version }} />
        </p>
        {!isCurrent && (
          <div className="row">
            <button
              {...{ type: 'button', className: 'button slim', 'aria-expanded': isOpen, 'aria-label': strings.compareWith(name) }}
              onClick={() => setIsOpen(!isOpen)}
            >
              {strings.compare}
            </button>
            <button type="button" className="button slim" aria-label={strings.restoreNamed(name)} onClick={onRestore}>
              {strings.restore}
            </button>
          </div>
        )}
      </div>
      {isOpen && <VersionComparison {...props} />}
    </li>
  );
}

/** Compares a version with a selected one, initially the current version. */
function VersionComparison({ version: { version }, namedVersions, readEntry, schema }: VersionItemProps) {
  const strings = useBuilderStrings();
  const selectId = useId();
  const [selectedNumber, setSelectedNumber] = useState<number>();
  const otherVersions = namedVersions.filter((item) => item.version !== version);
  const selected = otherVersions.find((item) => item.version === selectedNumber) ?? otherVersions[0];
  const [after, before] = namedVersions.filter((item) => item.version === version || item === selected);
  if (selected === undefined || before === undefined || after === undefined) return null;
  return (
    <>
      <div className="row small">
        <label htmlFor={selectId}>{strings.comparisonLabel}</label>
        <select id={selectId} value={selected.version} onChange={({ target }) => setSelectedNumber(Number(target.value))}>
          {otherVersions.map((item) => (
            <option key={item.version} value={item.version}>
              {item.name}
            </option>
          ))}
        </select>
      </div>
      <VersionDiff key={selected.version} {...{ readEntry, schema, before, after }} />
    </>
  );
}
