import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { fetchClient } from "~/api/client";
import type { Cluster } from "~/api/clusters";
import { failureOf } from "~/api/errors";
import { AsCommand } from "~/components/as-command";
import { useOnceAtATime } from "~/components/use-once-at-a-time";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { CheckboxField, FieldStack } from "~/ui/fields";
import { FormError } from "~/ui/front-page";
import { Mono } from "~/ui/values";

interface RemoveClusterProps {
  readonly cluster: Cluster;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Takes a cluster out of Pegel. The cluster itself is not touched. */
export function RemoveCluster({ cluster, onClose, onDone }: RemoveClusterProps) {
  const [sure, setSure] = useState(false);
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: async () => {
      const { error, response } = await fetchClient.DELETE("/api/v1/clusters/{cluster}", {
        params: { path: { cluster: cluster.slug }, query: { version: cluster.version } },
      });
      if (!response.ok) throw error;
    },
    onSuccess: () => {
      onDone();
      void queries.invalidateQueries({ queryKey: ["get", "/api/v1/clusters"] });
    },
  });
  const run = useOnceAtATime(() => remove.mutateAsync());
  const failure = remove.error === null ? undefined : failureOf(remove.error);
  return (
    <Dialog
      title={`Remove ${cluster.name} from Pegel`}
      target={<Mono>{cluster.slug}</Mono>}
      environment={cluster.environment}
      onClose={onClose}
      locked={remove.isPending}
      foot={
        <>
          <Button
            look="danger"
            busy={remove.isPending}
            disabledReason={sure ? undefined : "Tick the box above"}
            reasonBeside
            onClick={run}
          >
            Remove
          </Button>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
        </>
      }
    >
      <FieldStack>
        {failure && (
          <FormError>
            <b>{failure.title}.</b> {failure.detail} {failure.hint}
          </FormError>
        )}
        <p>
          The Fluss cluster is not touched. Pegel forgets how to reach it, with the stored secrets; links to its pages
          lead nowhere afterwards.
        </p>
        <CheckboxField
          label={`I know that ${cluster.slug} is then no longer watched`}
          checked={sure}
          onChange={setSure}
        />
        <AsCommand
          cli={["cluster", "remove", cluster.slug, "--confirm", cluster.slug]}
          method="DELETE"
          path={`clusters/${cluster.slug}`}
          query={{ version: cluster.version }}
        />
      </FieldStack>
    </Dialog>
  );
}
