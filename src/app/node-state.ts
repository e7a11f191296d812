import type { Clock } from '#base/clock.ts';
import type { Balance, UpstreamState } from '#domain/balance.ts';
import type { Directory } from '#domain/directory.ts';
import type { Reason } from '#surfaces/ops/routes.ts';
import { type ConfigurationFault, formatFault } from './configuration/configuration-fault.ts';

export interface NodeStateParts {
  readonly directory: () => Directory;
  readonly balance: Balance;
  readonly clock: Clock;
}

/** What an operator should know of a node: for `/health`, `/ready` and the metrics. */
export class NodeState {
  #isStarted = false;
  #isStopping: () => boolean = () => false;
  #warnings: readonly ConfigurationFault[] = [];
  #faults: readonly ConfigurationFault[] = [];
  readonly #parts: NodeStateParts;

  constructor(parts: NodeStateParts) {
    this.#parts = parts;
  }

  started(isStopping: () => boolean): void {
    this.#isStarted = true;
    this.#isStopping = isStopping;
  }

  configurationAccepted(warnings: readonly ConfigurationFault[]): void {
    this.#warnings = warnings;
    this.#faults = [];
  }

  configurationRefused(faults: readonly ConfigurationFault[]): void {
    this.#faults = faults;
  }

  get configurationFaults(): number {
    return this.#faults.length;
  }

  /** Upstreams of the configuration in force. */
  *upstreams(): Iterable<UpstreamState> {
    const { balance, clock, directory } = this.#parts;
    const nowMs = clock.nowMs();
    for (const { upstreams } of directory().deployments.values()) {
      for (const upstream of upstreams) yield balance.state(upstream, nowMs);
    }
  }

  /** What is wrong while the node still serves. */
  readonly troubles = (): readonly Reason[] => [
    ...this.#faults.map((fault) => ({ code: 'configuration_refused', message: formatFault(fault) })),
    ...this.#warnings.map((warning) => ({ code: 'configuration_warning', message: formatFault(warning) })),
    ...[...this.upstreams()]
      .filter(({ off }) => off)
      .map(({ id, reason }) => ({ code: 'upstream_off', message: `${id} is left alone: ${reason}` })),
  ];

  /** Why the node takes no calls now. */
  readonly hindrances = (): readonly Reason[] => {
    if (this.#isStopping()) return [{ code: 'stopping', message: 'The node is stopping.' }];
    return this.#isStarted ? [] : [{ code: 'starting', message: 'The node is starting.' }];
  };
}
