import { formatDangling, NodeState } from '#app/node/node-state.ts';
import { systemClock } from '#base/time/clock.ts';
import type { ServiceOptions, TestService } from './start-service.ts';

interface NodeWatch {
  /** Messages about applications that the node has logged. */
  readonly log: readonly string[];
  readonly options: Required<Pick<ServiceOptions, 'onDependencyGraph' | 'onMissingDocuments' | 'onUnusablePart'>>;
  /** Returns the state that the node reports at `/health`. Nothing is logged before. */
  createState(service: TestService): NodeState;
}

/** Records messages that a node logs about its applications. Its service must use these options. */
export function watchNode(): NodeWatch {
  const log: string[] = [];
  let state: NodeState | undefined;
  const add = (messages: string | readonly string[] | undefined): void => void log.push(...[messages ?? []].flat());
  return {
    log,
    options: {
      onDependencyGraph: (graph) => add(state?.recordGraph(graph).map(formatDangling)),
      onMissingDocuments: (id, references) => add(state?.missingDocuments.record(id, references)),
      onUnusablePart: (part) => add(state?.unusableParts.record(part)),
    },
    createState({ snapshot, loadBalancer }) {
      state = new NodeState({ snapshot: snapshot.current, loadBalancer, clock: systemClock });
      return state;
    },
  };
}
