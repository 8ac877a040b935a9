/* Asks the device for the number of usable blocks and the scratch of the problem, since only device code can
 * compute them. A part of enclosure_cuda.cu. */
static cudaError_t ask_shape(const struct ref_context *c, int64_t shape[2])
{
    int64_t *device;
    cudaError_t error = cudaMallocAsync((void **)&device, 2 * sizeof *device, 0);
    if (error)
        return error;
    shape_kernel<<<1, 1>>>(*c, device);
    error = cudaMemcpy(shape, device, 2 * sizeof *device, cudaMemcpyDeviceToHost);
    cudaFreeAsync(device, 0);
    return error;
}
