// Common start of every kernel: extensions, shape of the workgroup and types of buffer references.
//
// A kernel declares its arguments once, as
//     layout(push_constant) uniform Args { In x; Out y; uint rows; };
// and the host reads names, offsets and access (readonly, writeonly) from the compiled module. The host derives
// barriers from the access, so a member's reference type must be right about reads and writes. The runtime fills in a
// member `uint digits[4]`: lib/uniform_loads.glsl.

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require

layout(constant_id = 0) const uint GROUP = 8;     // invocations per workgroup, chosen by the op
layout(constant_id = 1) const uint SUBGROUP = 8;  // invocations per subgroup, filled in by the runtime
layout(constant_id = 26) const bool CPU = false;  // true if the runtime compiles it for a CPU device
layout(local_size_x_id = 0) in;

// Aligned to one element only, because rows of odd width and slices are valid arguments everywhere.
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

// Index of the workgroup in a one-dimensional grid, which the host folds over x and y.
uint group_index() {
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

// Maximum of a and b; b if a is NaN. On lavapipe max() takes four times as many instructions.
float larger(float a, float b) { return a > b ? a : b; }
