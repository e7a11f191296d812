import { useCallback, useEffect, useState } from 'react';
import { usePage } from '../../page/page.tsx';
import { ErrorMessage } from '../../parts/error-message.tsx';
import { QuestionDialog } from '../../parts/question-dialog.tsx';
import { useLoaded } from '../../parts/use-loaded.ts';
import { type ErrorDetails, toErrorDetails } from '../../service/service-error.ts';
import { formatDateTime } from '../../strings/format-date-time.ts';
import { useLanguage } from '../../strings/strings.tsx';
import { listVersions, type OwnApplication, restoreVersion, type Version } from '../applications.ts';
import { useBuilderStrings } from '../builder-strings.ts';
import { VersionResult } from '../evaluation/evaluation-list.tsx';
import type { EvaluationState } from '../evaluation/use-evaluations.ts';
import { VersionDiff } from './version-diff.tsx';
import './versions.css';

interface VersionsSectionProps {
  readonly stored: OwnApplication;
  readonly evaluationState: EvaluationState;
  /** Called with the application after a version is restored. */
  readonly onRestored: (restored: OwnApplication) => void;
}

/** Earlier versions of the application, collapsed at first. */
export function VersionsSection({ stored, evaluationState, onRestored }: VersionsSectionProps) {
  const strings = useBuilderStrings();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details className="builder-tools" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{strings.versions}</summary>
      {isOpen && <VersionList {...{ stored, evaluationState, onRestored }} />}
    </details>
  );
}

function VersionList({ stored, evaluationState, onRestored }: VersionsSectionProps) {
  const strings = useBuilderStrings();
  const { locale: language } = useLanguage();
  const { service, announce } = usePage();
  const { id, etag } = stored;
  const { requestLoad } = evaluationState;
  useEffect(requestLoad, [requestLoad]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change creates another version
  const load = useCallback(() => listVersions(service, id), [service, id, etag]);
  const { value: versions, error, isLoading } = useLoaded(load);
  const [selectedVersion, setSelectedVersion] = useState<Version>();
  const [restoreError, setRestoreError] = useState<ErrorDetails>();
  const formatName = ({ savedAtMs }: Version): string => formatDateTime(savedAtMs, language);
  const restore = (version: Version): void => {
    setRestoreError(undefined);
    restoreVersion(service, stored, version.version).then(
      (restored) => {
        onRestored(restored);
        announce(strings.restored(formatName(version)));
      },
      (error: unknown) => setRestoreError(toErrorDetails(error)),
    );
  };
  return (
    <div className="builder-tools-body" aria-busy={isLoading}>
      <p className="soft small">{strings.versionsHint}</p>
      <ErrorMessage error={restoreError ?? error} />
      <ol className="versions" aria-label={strings.versions}>
        {versions?.map((version, index) => (
          <VersionItem
            key={version.version}
            {...{ version, stored, evaluationState, name: formatName(version), isCurrent: index === 0 }}
            onRestore={() => setSelectedVersion(version)}
          />
        ))}
      </ol>
      {selectedVersion !== undefined && (
        <QuestionDialog
          question={strings.restoreQuestion(formatName(selectedVersion))}
          confirmLabel={strings.restore}
          onConfirm={() => restore(selectedVersion)}
          onClose={() => setSelectedVersion(undefined)}
        />
      )}
    </div>
  );
}

interface VersionItemProps {
  readonly version: Version;
  readonly stored: OwnApplication;
  readonly evaluationState: EvaluationState;
  readonly name: string;
  readonly isCurrent: boolean;
  readonly onRestore: () => void;
}

function VersionItem({ version, stored, evaluationState, name, isCurrent, onRestore }: VersionItemProps) {
  const strings = useBuilderStrings();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <li className="version">
      <div className="row">
        <p className="row version-name">
          <span>{name}</span>
          <span className="soft small">{isCurrent ? strings.currentVersion : strings.versionNumber(version.version)}</span>
          <VersionResult {...{ evaluationState, version: version.version }} />
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
      {isOpen && <VersionDiff {...{ stored, version: version.version }} />}
    </li>
  );
}
