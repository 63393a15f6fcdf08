package org.pegel.peer;

import java.util.List;
import java.util.Map;
import java.util.Random;

import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.row.GenericRow;

/**
 * A table of the samples: what it is, which partitions it starts with, and how its rows are made.
 *
 * @param path database and name
 * @param descriptor as given to the server
 * @param partitions to be created by hand, empty for auto-partitioned and plain tables
 * @param initialRows how many rows are written at the start
 * @param rowsPerSecond the share of the steady workload, 0 for none
 * @param rows makes row {@code n}; the same {@code n} need not give the same row
 */
record SampleTable(
        TablePath path,
        TableDescriptor descriptor,
        List<Map<String, String>> partitions,
        int initialRows,
        int rowsPerSecond,
        Rows rows) {

    /** Makes rows. */
    interface Rows {
        /** Makes row {@code n}, counted from 0 over the life of the program. */
        GenericRow make(long n, Random random);
    }

    boolean hasPrimaryKey() {
        return descriptor.hasPrimaryKey();
    }
}
