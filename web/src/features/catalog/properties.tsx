import type { components } from "~/api/schema";
import { CopyButton } from "~/ui/copy-button";
import { StateChip } from "~/ui/state-chip";
import { Mono, Unknown } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import styles from "./catalog.module.css";

type Property = components["schemas"]["Property"];

/** Keys with their values; hidden ones say so. */
export function Properties({
  title,
  properties,
}: {
  readonly title: string;
  readonly properties: readonly Property[];
}) {
  return (
    <section className={styles.properties} aria-label={title}>
      <h3 className={styles.subtitle}>{title}</h3>
      {properties.length === 0 ? (
        <Unknown>none set</Unknown>
      ) : (
        <dl className={styles.list}>
          {properties.map((property) => (
            <div key={property.key} className={styles.property}>
              <dt>
                <Mono>
                  <VisibleText text={property.key} />
                </Mono>
              </dt>
              <dd>
                {property.is_redacted ? (
                  <StateChip state="denied">hidden</StateChip>
                ) : (
                  <>
                    <Mono>
                      <VisibleText text={property.value} />
                    </Mono>{" "}
                    <CopyButton text={property.value} what={property.key} />
                  </>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}
