/* The number of blocks, and the scratch memory that a problem's form needs: a part of enclosure_cuda.cu. */
static int64_t choose_blocks(int64_t rows, int64_t scratch_bytes)
{
    int device = 0, processors = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    int64_t blocks = (int64_t)processors * BLOCKS_PER_SM * (THREADS / BLOCK_THREADS);
    if (blocks > rows)
        blocks = rows;
    if (scratch_bytes && blocks > (int64_t)scratch_limit / scratch_bytes)
        blocks = (int64_t)scratch_limit / scratch_bytes;
    return blocks < 1 ? 1 : blocks;
}

static cudaError_t allocate_scratch(struct work *w, size_t bytes)
{
    w->scratch_bytes = bytes;
    return cudaMallocAsync((void **)&w->scratch, bytes, 0);
}

/* Clears freed memory, so that a candidate cannot find expected values in it. */
static void scrub(void *memory, size_t bytes)
{
    cudaMemsetAsync(memory, 0, bytes, 0);
    cudaFreeAsync(memory, 0);
}

#ifdef REF_RECURRENCE

/* Scratch of a recurrence is shared by all blocks and filled before they start. */
static int64_t scratch_of_block(const int64_t shape[2])
{
    (void)shape;
    return 0;
}

static cudaError_t take_scratch(struct work *w, int64_t blocks, const int64_t shape[2])
{
    const size_t bytes = (size_t)shape[1] * sizeof(double);
    cudaError_t error = allocate_scratch(w, bytes);
    (void)blocks;
    if (!error)
        error = cudaMemsetAsync(w->scratch, 0, bytes, 0);
    if (!error)
        span_kernel<<<(unsigned)choose_blocks(INT64_MAX, 0), BLOCK_THREADS>>>(*w);
    return error ? error : cudaGetLastError();
}

#elif defined REF_FOLD

static int64_t scratch_of_block(const int64_t shape[2])
{
    (void)shape;
    return 0;
}

/* States of a fold's parts, shared by all blocks and filled before they start. */
static cudaError_t take_scratch(struct work *w, int64_t blocks, const int64_t shape[2])
{
    const int64_t states = shape[0] * shape[1], threads = states * TERM_LANES;
    cudaError_t error = allocate_scratch(w, (size_t)states * sizeof(struct ref_fold) + 1);
    (void)blocks;
    if (!error)
        fold_kernel<<<(unsigned)choose_blocks((threads + THREADS - 1) / THREADS, 0), THREADS>>>(*w);
    return error ? error : cudaGetLastError();
}

#else

static int64_t scratch_of_block(const int64_t shape[2])
{
    return shape[1] * (int64_t)sizeof(num);
}

static cudaError_t take_scratch(struct work *w, int64_t blocks, const int64_t shape[2])
{
    w->scratch_count = shape[1];
    if (shape[1] == 0)
        return cudaSuccess;
    return allocate_scratch(w, (size_t)(blocks * shape[1]) * sizeof(num));
}

#endif
