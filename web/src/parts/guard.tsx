import { Component, type ReactNode } from 'react';
import { PartMissing } from './lazy-view.ts';

interface GuardProps {
  /** Shown where the rest cannot be drawn. */
  readonly instead: ReactNode;
  readonly children: ReactNode;
}

/** Keeps what cannot be drawn from taking the page with it. */
export class Guard extends Component<GuardProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override componentDidCatch(fault: unknown): void {
    if (fault instanceof PartMissing) fault.forget();
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.instead : this.props.children;
  }
}
