// What every kernel starts from: the extensions, the workgroup's shape and the kinds of buffer reference a kernel may
// take.
//
// A kernel declares its arguments once, as
//     layout(push_constant) uniform Args { In x; Out y; uint rows; };
// and the host reads names, offsets and access (readonly, writeonly) from the compiled module. A member's reference
// type is therefore also its promise about reads and writes, from which barriers are derived. A member `uint digits[4]`
// is filled in by the runtime: lib/uniform_loads.glsl.

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require

layout(constant_id = 0) const uint GROUP = 8;     // invocations per workgroup, chosen by the op
layout(constant_id = 1) const uint SUBGROUP = 8;  // invocations per subgroup, filled in by the runtime
layout(constant_id = 26) const bool CPU = false;  // likewise: whether it was lowered for a CPU device
layout(local_size_x_id = 0) in;

// Aligned to one element only: rows of odd width and slices are legal arguments everywhere.
#define REFERENCE layout(buffer_reference, buffer_reference_align = 4) restrict
REFERENCE readonly buffer In { float at[]; };
REFERENCE readonly buffer In2 { vec2 at[]; };
REFERENCE readonly buffer In4 { vec4 at[]; };
REFERENCE readonly buffer InInt { int at[]; };
REFERENCE writeonly buffer Out { float at[]; };
REFERENCE writeonly buffer Out2 { vec2 at[]; };
REFERENCE writeonly buffer Out4 { vec4 at[]; };
REFERENCE writeonly buffer OutInt { int at[]; };
REFERENCE buffer InOut { float at[]; };
REFERENCE buffer InOutInt { int at[]; };
REFERENCE buffer InOut2 { vec2 at[]; };
REFERENCE buffer InOut4 { vec4 at[]; };

// The workgroup's number in a grid that the host thinks of as one-dimensional and folds over x and y.
uint group_index() {
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

// max() for numbers: where a is NaN it is b. On lavapipe max() is four times as many instructions.
float larger(float a, float b) { return a > b ? a : b; }
