// The buckets of all partitions of an answer as one list, with what is missing of each.
import type { components } from "~/api/schema";
import type { StateName } from "~/ui/state";

type Schemas = components["schemas"];

export interface BucketRow<B> {
  readonly id: string;
  readonly partition: string | undefined;
  /** Undefined where the partition as a whole could not be read. */
  readonly bucket: B | undefined;
  readonly state: Schemas["Coverage"];
  readonly failure: Schemas["PartFailure"] | undefined;
}

export interface PartOf<B> {
  readonly partition?: string | null;
  readonly buckets: readonly B[];
  readonly state: Schemas["Coverage"];
  readonly failure?: Schemas["PartFailure"] | null;
}

export interface BucketLike {
  readonly bucket: number;
  readonly state: Schemas["Coverage"];
  readonly failure?: Schemas["PartFailure"] | null;
}

export function bucketRows<B extends BucketLike>(partitions: readonly PartOf<B>[]): BucketRow<B>[] {
  return partitions.flatMap((part): BucketRow<B>[] => {
    const partition = part.partition ?? undefined;
    if (part.buckets.length === 0) {
      return [
        {
          id: `${partition ?? ""}/`,
          partition,
          bucket: undefined,
          state: part.state,
          failure: part.failure ?? undefined,
        },
      ];
    }
    return part.buckets.map((bucket) => ({
      id: `${partition ?? ""}/${bucket.bucket}`,
      partition,
      bucket,
      state: bucket.state,
      failure: bucket.failure ?? undefined,
    }));
  });
}

export function coverageLook({ state, failure }: Pick<BucketRow<unknown>, "state" | "failure">): {
  readonly state: StateName;
  readonly words: string;
} {
  return { state, words: failure ? `${state}: ${failure.code}` : state === "ok" ? "OK" : state };
}
