// Form fields: native controls with the label always in sight, the error beside the field and tied to it.
import { type ComponentPropsWithRef, type ReactNode, useId, useState } from "react";
import styles from "./fields.module.css";
import { VisuallyHidden } from "./visually-hidden";

interface FieldFrame {
  readonly label: string;
  readonly description?: ReactNode;
  /** What is wrong with the value, in words. */
  readonly error?: string | undefined;
}

interface TextFieldProps
  extends FieldFrame,
    Omit<ComponentPropsWithRef<"input">, "value" | "onChange" | "className" | "children"> {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** For ids, addresses, numbers: one width for all characters. */
  readonly mono?: boolean;
}

export function TextField({ label, description, error, mono, onChange, required, ...others }: TextFieldProps) {
  return (
    <Field label={label} description={description} error={error} required={required}>
      {(ties) => (
        <input
          spellCheck={false}
          autoComplete="off"
          {...others}
          {...ties}
          required={required}
          className={styles.input}
          data-mono={mono ? "" : undefined}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** A secret; can be shown while it is typed. */
export function PasswordField({
  label,
  description,
  error,
  onChange,
  required,
  ...others
}: Omit<TextFieldProps, "type" | "mono">) {
  const [shown, setShown] = useState(false);
  return (
    <Field label={label} description={description} error={error} required={required}>
      {(ties) => (
        <span className={styles.secret}>
          <input
            spellCheck={false}
            {...others}
            {...ties}
            required={required}
            type={shown ? "text" : "password"}
            className={styles.input}
            onChange={(event) => onChange(event.target.value)}
          />
          <button type="button" className={styles.show} aria-pressed={shown} onClick={() => setShown(!shown)}>
            {shown ? "Hide" : "Show"}
            <VisuallyHidden> {label.toLowerCase()}</VisuallyHidden>
          </button>
        </span>
      )}
    </Field>
  );
}

interface TextAreaFieldProps
  extends FieldFrame,
    Omit<ComponentPropsWithRef<"textarea">, "value" | "onChange" | "className" | "children"> {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly mono?: boolean;
}

export function TextAreaField({ label, description, error, mono, onChange, required, ...others }: TextAreaFieldProps) {
  return (
    <Field label={label} description={description} error={error} required={required}>
      {(ties) => (
        <textarea
          rows={3}
          spellCheck={false}
          {...others}
          {...ties}
          required={required}
          className={styles.input}
          data-mono={mono ? "" : undefined}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

interface Ties {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": true | undefined;
}

function Field(
  props: FieldFrame & { readonly required: boolean | undefined; readonly children: (ties: Ties) => ReactNode },
) {
  const { label, description, error, required, children } = props;
  const id = useId();
  const described = [description !== undefined && `${id}-description`, error !== undefined && `${id}-error`].filter(
    Boolean,
  );
  return (
    <div className={styles.field}>
      <span className={styles.label}>
        <label htmlFor={id}>{label}</label>
        {required && (
          <span className={styles.star} aria-hidden="true">
            *
          </span>
        )}
      </span>
      {description !== undefined && (
        <span id={`${id}-description`} className={styles.description}>
          {description}
        </span>
      )}
      {children({
        id,
        "aria-describedby": described.length === 0 ? undefined : described.join(" "),
        "aria-invalid": error === undefined ? undefined : true,
      })}
      {error !== undefined && (
        <span id={`${id}-error`} className={styles.error}>
          {error}
        </span>
      )}
    </div>
  );
}

/** Fields under each other with the room between them. */
export function FieldStack({ children }: { readonly children: ReactNode }) {
  return <div className={styles.grid}>{children}</div>;
}

interface PrefixedFieldProps {
  /** In grey inside the frame: "rows", "where". */
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly mono?: boolean;
  readonly width?: number;
  readonly placeholder?: string;
}

/** A compact field for tool rows, its label inside the frame. */
export function PrefixedField({ label, value, onChange, mono, width = 90, placeholder }: PrefixedFieldProps) {
  return (
    <label className={styles.prefixed}>
      <span>{label}</span>
      <input
        value={value}
        placeholder={placeholder}
        data-mono={mono ? "" : undefined}
        style={{ width }}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

interface ToggleProps {
  readonly label: ReactNode;
  readonly description?: ReactNode;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabledReason?: string;
}

/** Agrees to something or picks it; takes effect with the form. */
export function CheckboxField(props: ToggleProps) {
  return <Toggle {...props} kind="checkbox" />;
}

/** Turns something on or off. */
export function SwitchField(props: ToggleProps) {
  return <Toggle {...props} kind="switch" />;
}

function Toggle({
  label,
  description,
  checked,
  onChange,
  disabledReason,
  kind,
}: ToggleProps & { readonly kind: "checkbox" | "switch" }) {
  const noteId = useId();
  const note = disabledReason ?? description;
  return (
    <div className={styles.toggle}>
      <label>
        <input
          type="checkbox"
          role={kind === "switch" ? "switch" : undefined}
          className={kind === "switch" ? styles.switch : styles.checkbox}
          checked={checked}
          disabled={disabledReason !== undefined}
          aria-describedby={note === undefined ? undefined : noteId}
          onChange={(event) => onChange(event.target.checked)}
        />
        <span>{label}</span>
      </label>
      {note !== undefined && (
        <span id={noteId} className={styles.note}>
          {note}
        </span>
      )}
    </div>
  );
}
