// Pages without the frame: signing in, the first run.
import type { ReactNode } from "react";
import styles from "./front-page.module.css";
import { Logo } from "./logo";
import { VisuallyHidden } from "./visually-hidden";

interface FrontPageProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly foot?: ReactNode;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

export function FrontPage({ title, lead, foot, wide, children }: FrontPageProps) {
  return (
    <div className={styles.page}>
      <main className={styles.middle} id="main">
        <div className={styles.brand}>
          <span className={styles.logo}>
            <Logo size={24} />
          </span>
          Pegel
        </div>
        <div className={styles.card} data-wide={wide ? "" : undefined}>
          <div className={styles.head}>
            <h1 className={styles.title} tabIndex={-1} data-page-title="">
              {title}
            </h1>
            {lead !== undefined && <p className={styles.lead}>{lead}</p>}
          </div>
          <div className={styles.body}>{children}</div>
        </div>
      </main>
      <footer className={styles.foot}>{foot}</footer>
    </div>
  );
}

/** What went wrong with the whole form; read out when it appears. */
export function FormError({ children }: { readonly children: ReactNode }) {
  return (
    <div className={styles.error} role="alert">
      {children}
    </div>
  );
}

export interface Step {
  readonly id: string;
  readonly title: string;
  readonly state: "done" | "now" | "later";
  readonly body?: ReactNode;
}

const STEP_WORDS = { done: "done", now: "now", later: "later" } as const;

/** A few steps, one of them at hand. */
export function Steps({ steps, label }: { readonly steps: readonly Step[]; readonly label: string }) {
  return (
    <ol className={styles.steps} aria-label={label}>
      {steps.map((step) => (
        <li
          key={step.id}
          className={styles.step}
          data-state={step.state}
          aria-current={step.state === "now" ? "step" : undefined}
        >
          <span className={styles["step-title"]}>
            {step.title}
            <VisuallyHidden>, {STEP_WORDS[step.state]}</VisuallyHidden>
          </span>
          {step.body !== undefined && <div className={styles["step-body"]}>{step.body}</div>}
        </li>
      ))}
    </ol>
  );
}
